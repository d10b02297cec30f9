import type { EnvVariable } from './env-spec.ts';

/** Variables of the published releases and of the fake ban system. */
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
  SANDBOX_BAN_SYSTEM: {
    group: 'Process',
    type: 'boolean',
    default: 'false',
    effect:
      'With the panel, the sandbox has a fake ban system too, used while BAN_SYSTEM_API_URL is not set. BAN_SYSTEM_ENABLED switches it on like a real one.',
  },
} as const satisfies Record<string, EnvVariable>;
