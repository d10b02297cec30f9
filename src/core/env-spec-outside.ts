import type { EnvVariable } from './env-spec.ts';

/** Variables of the published releases, of the mail server and of the fake ban system. */
export const OUTSIDE_VARIABLES = {
  RELEASES_API_URL: {
    group: 'Updates',
    type: 'string',
    default: 'https://api.github.com',
    effect:
      'Base address of the interface that lists releases. Anonymous: 60 requests an hour, of which all instances together need two.',
  },
  CABINET_REPO: {
    group: 'Updates',
    type: 'string',
    default: null,
    effect: 'Repository of the cabinet pages, owner/name, for GET /cabinet/admin/updates/releases. Unset = its part is empty.',
  },
  SMTP_IMPLICIT_TLS_PORT: {
    group: 'Mail',
    type: 'integer',
    default: '465',
    min: 1,
    max: 65_535,
    effect:
      'With this SMTP_PORT the connection is TLS from its beginning; with every other one SMTP_USE_TLS decides about STARTTLS.',
  },
  SMTP_ALLOW_SELF_SIGNED: {
    group: 'Mail',
    type: 'boolean',
    default: 'false',
    effect:
      'Accepts any certificate of the mail server, also one that is self-signed, has expired or is for another name. Only for a server in the same network; better name its authority in NODE_EXTRA_CA_CERTS.',
  },
  SANDBOX_BAN_SYSTEM: {
    group: 'Process',
    type: 'boolean',
    default: 'false',
    effect:
      'With the panel, the sandbox has a fake ban system too, used while BAN_SYSTEM_API_URL is not set. BAN_SYSTEM_ENABLED switches it on like a real one.',
  },
} as const satisfies Record<string, EnvVariable>;
