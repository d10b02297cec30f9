import type { App } from '../../../core/app.ts';
import { areTicketsEnabled } from '../../tickets/ticket-settings.ts';

export interface ServiceInfo {
  name: string;
  description: string | null;
  supportEmail: string | null;
  /** `SUPPORT_USERNAME` as it is set. */
  supportMessenger: string | null;
  website: string | null;
}

/** Name, description and contacts of the service, from the environment and one setting. */
export function readServiceInfo(app: App): ServiceInfo {
  return { ...app.env.serviceInfo, supportMessenger: supportUsername(app) };
}

/** How users reach support: by tickets, by a contact in the messenger, or both. */
export interface SupportConfig {
  ticketsEnabled: boolean;
  supportType: 'tickets' | 'profile' | 'both';
  supportUrl: null;
  supportUsername: string | null;
}

const TYPES = { tickets: 'tickets', contact: 'profile', both: 'both' } as const;

/** What clients decide by whether a user sees tickets. */
export function readSupportConfig(app: App): SupportConfig {
  return {
    ticketsEnabled: areTicketsEnabled(app),
    supportType: TYPES[app.settings.get('SUPPORT_SYSTEM_MODE')],
    supportUrl: null,
    supportUsername: supportUsername(app),
  };
}

function supportUsername(app: App): string | null {
  return app.settings.get('SUPPORT_USERNAME') || null;
}
