import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { firstCharacters } from '../../core/characters.ts';
import { storableText } from '../../core/db/storable-text.ts';
import type {
  PanelEventData,
  PanelEventOutcome,
  PanelEventPort,
  PanelUserNames,
  PanelWebhookRequest,
  PanelWebhookVerdict,
} from '../../domain/panel-events/ports.ts';
import { isUuid, uuidFromPanelNumber } from './panel-generation.ts';

/** Lower-case hex HMAC-SHA-256 of the body under the secret as text. */
const SIGNATURE_HEADER = 'x-remnawave-signature';
const MAX_BODY = 64 * 1024;
const MIN_SECRET = 32;
const DEFAULT_PERCENT = 80;

const absent = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const text = absent(z.string().transform((value) => firstCharacters(storableText(value), 200)));
const longText = absent(z.string().min(1).max(4_096).transform(storableText));
const timestamp = absent(z.iso.datetime({ offset: true }));
/** With an offset the first and the last year of the notation reach years that the database does not read. */
const end = absent(z.iso.datetime({ offset: true }).refine((value) => isOrdinaryYear(new Date(value).getUTCFullYear())));
const isOrdinaryYear = (year: number) => year >= 1970 && year <= 9999;
const count = absent(z.number().nonnegative());

/** The fields of a panel user that are read; the schema drops all others, its credentials first. */
const wireUser = z.object({
  uuid: absent(z.string()),
  id: absent(z.number()),
  shortUuid: longText,
  status: absent(z.enum(['ACTIVE', 'DISABLED', 'LIMITED', 'EXPIRED'])),
  expireAt: end,
  trafficLimitBytes: count,
  userTraffic: absent(z.object({ usedTrafficBytes: count })),
  usedTrafficBytes: count,
  telegramId: absent(z.coerce.number().int().positive()),
  email: longText,
  subscriptionUrl: longText,
  lastTriggeredThreshold: count,
  thresholdPercent: absent(z.coerce.number()),
  threshold: absent(z.coerce.number()),
});
type WireUser = z.infer<typeof wireUser>;

const wireDevice = z.object({
  hwid: absent(z.string()),
  platform: text,
  deviceModel: text,
  tag: text,
  userId: absent(z.number()),
  userUuid: absent(z.string()),
});

const wireBody = z.object({
  scope: z.string().min(1).max(100),
  event: z.string().min(1).max(100),
  timestamp: timestamp,
  data: z.record(z.string(), z.unknown()).catch({}),
  meta: absent(
    z.object({
      notConnectedAfterHours: absent(z.number()),
      expiration: absent(z.number()),
      thresholdPercent: absent(z.coerce.number()),
      threshold: absent(z.coerce.number()),
    }),
  ),
});
type WireBody = z.infer<typeof wireBody>;

const wireNotice = z.object({
  name: text,
  nodeName: text,
  providerName: text,
  nextBillingAt: end,
  panelVersion: text,
  description: text,
  loginAttempt: absent(z.object({ username: text, ip: text })),
  subpageConfig: absent(z.object({ action: text })),
});

/** @param count counts one outcome in the metrics */
export function createPanelEventPort(options: {
  secret: () => string | null;
  count: (outcome: PanelEventOutcome) => void;
}): PanelEventPort {
  return { receive: (request) => receive(request, options.secret() ?? ''), count: options.count };
}

function receive({ headers, rawBody }: PanelWebhookRequest, secret: string): PanelWebhookVerdict {
  if (rawBody.length === 0) return refused(400, 'empty_body');
  if (rawBody.length > MAX_BODY) return refused(413, 'payload_too_large');
  if (secret.length < MIN_SECRET) return refused(503, 'webhook_not_configured');
  const signature = headers[SIGNATURE_HEADER];
  if (!signature) return refused(401, 'missing_signature');
  if (!isEqual(signature, createHmac('sha256', secret).update(rawBody).digest('hex'))) return refused(401, 'invalid_signature');
  const json = parse(rawBody);
  if (json === undefined) return refused(400, 'invalid_json');
  const body = wireBody.safeParse(json);
  if (!body.success) return refused(400, 'missing_scope_or_event');
  const { user, data } = contentOf(body.data);
  const { event, timestamp } = body.data;
  return {
    accepted: true,
    event: {
      name: event,
      happenedAt: timestamp === undefined ? null : new Date(timestamp),
      bodyHash: createHash('sha256').update(rawBody).digest('hex'),
      user,
      data,
    },
  };
}

function refused(status: 400 | 401 | 413 | 503, reason: string): PanelWebhookVerdict {
  return { accepted: false, status, reason };
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parse(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString('utf8'));
  } catch {
    return undefined;
  }
}

function contentOf({ scope, data, meta }: WireBody): { user: PanelUserNames | null; data: PanelEventData } {
  if (scope === 'user') {
    const user = wireUser.parse(data);
    return { user: namesOf(user), data: { ...stateOf(user), ...metaOf(user, meta) } };
  }
  if (scope === 'user_hwid_devices') {
    const { device, user } = deviceOf(data);
    return { user: namesOf(user), data: defined({ device }) };
  }
  const notice = wireNotice.parse(data);
  return {
    user: null,
    data: defined({
      name: notice.name ?? notice.nodeName ?? notice.loginAttempt?.username ?? notice.subpageConfig?.action,
      provider: notice.providerName,
      version: notice.panelVersion,
      ip: notice.loginAttempt?.ip,
      moment: notice.nextBillingAt,
      description: notice.description,
    }),
  };
}

function stateOf({ status, expireAt, trafficLimitBytes, userTraffic, usedTrafficBytes }: WireUser): PanelEventData {
  return defined({
    status,
    expireAt: expireAt && new Date(expireAt).toISOString(),
    trafficLimitBytes,
    usedTrafficBytes: userTraffic?.usedTrafficBytes ?? usedTrafficBytes,
  });
}

function metaOf(user: WireUser, meta: WireBody['meta']): PanelEventData {
  const named = [user.thresholdPercent, user.threshold, meta?.thresholdPercent, meta?.threshold, user.lastTriggeredThreshold];
  const percent = Math.trunc(named.find((value) => value !== undefined && value > 0) ?? DEFAULT_PERCENT);
  return defined({ percent, notConnectedHours: meta?.notConnectedAfterHours, expirationHours: meta?.expiration });
}

/** The squads of `user` in these events are always empty, and are not read. */
function deviceOf(data: Record<string, unknown>): { device: string; user: WireUser } {
  const wire = wireDevice.catch({}).parse(data.hwidUserDevice);
  const owner = wireUser.catch({}).parse(data.user);
  const shortId = wire.hwid ? firstCharacters(storableText(wire.hwid), 8) : '';
  const [name, detail] =
    (wire.tag ?? wire.deviceModel)
      ? [wire.tag ?? wire.deviceModel, wire.platform]
      : [wire.platform ?? shortId, wire.platform && shortId];
  const user = { ...owner, uuid: owner.uuid ?? wire.userUuid, id: owner.id ?? wire.userId };
  return { device: detail ? `${name} (${detail})` : (name ?? ''), user };
}

function namesOf({ uuid, id, shortUuid, telegramId, email, subscriptionUrl }: WireUser): PanelUserNames {
  return {
    panelUuid: handleOf(uuid, id),
    shortUuid: shortUuid ?? null,
    messengerId: telegramId ?? null,
    email: email?.toLowerCase() ?? null,
    subscriptionUrl: isLink(subscriptionUrl) ? subscriptionUrl : null,
  };
}

/** Version 2 of the panel sends a uuid beside the number, version 3 the number only. */
function handleOf(uuid: string | undefined, id: number | undefined): string | null {
  if (uuid !== undefined && isUuid(uuid)) return uuid;
  try {
    return id === undefined ? null : uuidFromPanelNumber(id);
  } catch {
    return null;
  }
}

function isLink(url: string | undefined): url is string {
  return url !== undefined && url.length <= 2_048 && /^https?:\/\//i.test(url);
}

function defined<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
