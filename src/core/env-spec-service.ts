import type { EnvVariable } from './env-spec.ts';

/** Variables of what the cabinet shows about the service. */
export const SERVICE_VARIABLES = {
  SERVICE_NAME: {
    group: 'Cabinet',
    type: 'string',
    aliases: ['BOT_NAME'],
    default: 'VPN Service',
    effect: 'Name of the service, as GET /cabinet/info/service answers it.',
  },
  SERVICE_DESCRIPTION: {
    group: 'Cabinet',
    type: 'string',
    default: null,
    effect: 'Description of the service there.',
  },
  SUPPORT_EMAIL: {
    group: 'Cabinet',
    type: 'string',
    default: null,
    effect: 'E-mail address of support there.',
  },
  WEBSITE_URL: {
    group: 'Cabinet',
    type: 'string',
    default: null,
    effect: 'Address of the web site there; http or https.',
  },
} as const satisfies Record<string, EnvVariable>;
