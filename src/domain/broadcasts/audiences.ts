import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { isEmailSegment } from '../audience/segments.ts';
import { listAllActiveTariffNames, tariffExists } from '../catalog/find-tariff.ts';
import { findUserById } from '../identity/find-user.ts';
import type { SendChannel } from '../mass-sends/types.ts';
import { type TextKey, text } from '../messaging/texts.ts';
import { countSegments, countTariffMembers, listFirst, type SampleRecipient } from './repo.ts';
import { BASIC_SEGMENTS, CUSTOM_SEGMENTS, EMAIL_SEGMENTS } from './rules.ts';

export const targetUnknown = refusal('target_unknown', 400, 'Invalid target: everyone');

/** Counts of all segments take one pass over the users: a page that shows them again soon gets the same ones. */
const TRUST_MS = 30 * SECOND_MS;
/** Recipients that a preview names. */
const SAMPLE = 10;

export interface Filter {
  key: string;
  label: string;
  count: number;
  group: string;
}

export interface TariffFilter {
  tariffId: number;
  /** `tariff_<id>`. */
  key: string;
  label: string;
  count: number;
}

type MessengerSegment = (typeof BASIC_SEGMENTS)[number] | (typeof CUSTOM_SEGMENTS)[number];

const GROUPS: Readonly<Record<MessengerSegment | (typeof EMAIL_SEGMENTS)[number], string>> = {
  all: 'basic',
  ...{ active: 'subscription', trial: 'subscription', no: 'subscription', expiring: 'subscription', expired: 'subscription' },
  ...{ zero: 'traffic', active_zero: 'traffic', trial_zero: 'traffic' },
  ...{ custom_today: 'registration', custom_week: 'registration', custom_month: 'registration' },
  ...{ custom_active_today: 'activity', custom_inactive_week: 'activity', custom_inactive_month: 'activity' },
  ...{ custom_referrals: 'source', custom_direct: 'source' },
  ...{ all_email: 'basic', email_only: 'auth_type', messenger_with_email: 'auth_type' },
  ...{ active_email: 'subscription', expired_email: 'subscription' },
};

/** Segments of the messenger with their sizes (spec 05 section 3.3). */
export async function listFilters(
  app: App,
  actor: AdminActor,
): Promise<{ filters: Filter[]; tariffFilters: TariffFilter[]; customFilters: Filter[] }> {
  const [language, counts, tariffFilters] = await Promise.all([
    languageOf(app, actor),
    countsOf(app, 'messenger', [...BASIC_SEGMENTS, ...CUSTOM_SEGMENTS]),
    listTariffFilters(app),
  ]);
  const filter = (key: MessengerSegment): Filter => filterOf(language, key, counts);
  return { filters: BASIC_SEGMENTS.map(filter), tariffFilters, customFilters: CUSTOM_SEGMENTS.map(filter) };
}

/** Segments of the mail with their sizes. */
export async function listEmailFilters(app: App, actor: AdminActor): Promise<{ filters: Filter[]; totalWithEmail: number }> {
  const [language, counts] = await Promise.all([languageOf(app, actor), countsOf(app, 'email', EMAIL_SEGMENTS)]);
  return { filters: EMAIL_SEGMENTS.map((key) => filterOf(language, key, counts)), totalWithEmail: counts.all_email ?? 0 };
}

/** Active tariffs by name, with the members of their segments. */
export async function listTariffFilters(app: App): Promise<TariffFilter[]> {
  const [tariffs, members] = await Promise.all([
    listAllActiveTariffNames(app),
    app.cache.read('broadcast-counts:tariffs', TRUST_MS, () => countTariffMembers(app.db, app.clock.now())),
  ]);
  return tariffs.map(({ id, name }) => ({ tariffId: id, key: `tariff_${id}`, label: name, count: members.get(id) ?? 0 }));
}

function filterOf(language: string, key: keyof typeof GROUPS, counts: Record<string, number>): Filter {
  return { key, label: text(language, `broadcasts.segment_${key}` as TextKey), count: counts[key] ?? 0, group: GROUPS[key] };
}

function countsOf(app: App, channel: SendChannel, targets: readonly string[]): Promise<Record<string, number>> {
  return app.cache.read(`broadcast-counts:${channel}`, TRUST_MS, async () => {
    const counts = await countSegments(app.db, channel, targets, app.clock.now());
    return Object.fromEntries(targets.map((target, index) => [target, counts[index]!]));
  });
}

export interface Preview {
  target: string;
  /** Users who would get it now. */
  count: number;
  /** The first of them. */
  sample: { userId: number; name: string }[];
}

/**
 * Who would get a broadcast, without sending anything: exactly those to whom it would be sent now.
 * @throws AppError 400 `Invalid target: …` or `Invalid email target: …`
 */
export async function previewAudience(app: App, channel: SendChannel, target: string): Promise<Preview> {
  await checkTarget(app, channel, target);
  const now = app.clock.now();
  const [[count], first] = await Promise.all([
    countSegments(app.db, channel, [target], now),
    listFirst(app.db, channel, target, SAMPLE, now),
  ]);
  return { target, count: count!, sample: first.map((one) => ({ userId: one.userId, name: nameOf(one, channel) })) };
}

function nameOf({ userId, username, firstName, lastName, email }: SampleRecipient, channel: SendChannel): string {
  const full = [firstName, lastName].filter(Boolean).join(' ');
  const known = channel === 'email' ? [full, username, email] : [full, username && `@${username}`, email];
  return known.find((name) => name) || `#${userId}`;
}

/** @throws AppError 400 */
export async function checkTarget(app: App, channel: SendChannel, target: string): Promise<void> {
  if (channel === 'email') {
    if (!isEmailSegment(target)) throw targetUnknown({ detail: `Invalid email target: ${target}` });
    return;
  }
  const isNamed = isBroadcastSegment(target);
  const tariffId = /^tariff_([1-9]\d{0,8})$/.exec(target)?.[1];
  if (!isNamed && !(tariffId !== undefined && (await tariffExists(app, Number(tariffId))))) {
    throw targetUnknown({ detail: `Invalid target: ${target}` });
  }
}

/** A segment by its exact name, tariffs excluded. */
export function isBroadcastSegment(name: string): boolean {
  return [...BASIC_SEGMENTS, ...CUSTOM_SEGMENTS].some((known) => known === name);
}

export async function languageOf(app: App, actor: AdminActor): Promise<string> {
  return (await findUserById(app, actor.userId))?.language ?? app.settings.get('DEFAULT_LANGUAGE');
}
