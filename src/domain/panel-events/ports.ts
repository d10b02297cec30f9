/** The webhooks of the panel as the domain sees them (spec 06 section 12; spec 08 section 1). The adapter knows their wire. */

declare module '../../core/app.ts' {
  interface Ports {
    panelEvents: PanelEventPort;
  }
}

export const STATE_EVENTS = [
  'user.modified',
  'user.expired',
  'user.disabled',
  'user.enabled',
  'user.limited',
  'user.traffic_reset',
  'user.deleted',
  'user.revoked',
] as const;

/** Reports of a panel user's state. */
export type StateEvent = (typeof STATE_EVENTS)[number];

/** Values of an event that are stored; each is left out when the panel did not send it in this form. No others are ever stored. */
export interface PanelEventData {
  status?: 'ACTIVE' | 'DISABLED' | 'LIMITED' | 'EXPIRED';
  /** ISO 8601. */
  expireAt?: string;
  /** Bytes; 0 = unlimited. */
  trafficLimitBytes?: number;
  usedTrafficBytes?: number;
  /** Whole percent of the traffic limit. */
  percent?: number;
  /** Hours since the account was made, without a connection. */
  notConnectedHours?: number;
  /** Hours until the end; below 0 it was over that long ago. */
  expirationHours?: number;
  /** Device name as users know it: model and platform, else platform and the start of its id. */
  device?: string;
  /** Values of notices to administrators, each at most 200 characters. */
  name?: string;
  provider?: string;
  version?: string;
  ip?: string;
  moment?: string;
  description?: string;
}

/** Names of the panel user, to find its account; not stored with the event. */
export interface PanelUserNames {
  /** Handle as in `users.vpnpanel_uuid`. */
  panelUuid: string | null;
  shortUuid: string | null;
  messengerId: number | null;
  /** Lower case. */
  email: string | null;
  subscriptionUrl: string | null;
}

export interface PanelEvent {
  /** Full name: `user.expired`. */
  name: string;
  /** By the panel's clock; null = the panel did not say. */
  happenedAt: Date | null;
  /** SHA-256 of the body in hex. */
  bodyHash: string;
  /** Null when the event is not about a user. */
  user: PanelUserNames | null;
  data: PanelEventData;
}

export interface PanelWebhookRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
}

export type PanelWebhookVerdict =
  | { accepted: true; event: PanelEvent }
  | { accepted: false; status: 400 | 401 | 413 | 503; reason: string };

/** `refused`: not authentic or unreadable. `ignored`: no effect is known. `old`: too old. `repeated`: stored before. */
export type PanelEventOutcome = 'received' | 'refused' | 'ignored' | 'old' | 'repeated' | 'processed';

export interface PanelEventPort {
  /** Checks the signature of the bytes received, then reads them. Never logs or keeps the body. */
  receive(request: PanelWebhookRequest): PanelWebhookVerdict;
  /** Counts for the metric `panel_webhook_events_total`. */
  count(outcome: PanelEventOutcome): void;
}
