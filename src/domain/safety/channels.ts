import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { type AppError, refusal, ValidationError, type ValidationIssue } from '../../core/errors.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import { forgetRequiredChannels } from './channel-gate.ts';
import {
  type Channel,
  type ChannelChanges,
  deleteChannelRow,
  deleteMemberships,
  insertChannel,
  listAllChannels,
  lockChannel,
  updateChannelRow,
} from './repo.ts';

export const channelNotFound = refusal('channel_not_found', 404, 'Channel not found');
export const channelIdTaken = refusal('channel_id_taken', 409, 'A channel with this channel_id already exists');

/** A new channel, as the request has it. */
export interface ChannelDraft {
  channelId: string;
  channelLink?: string | null | undefined;
  title?: string | null | undefined;
  disableTrialOnLeave: boolean;
  disablePaidOnLeave: boolean;
}

/** Absent fields stay as they are; null clears the link and the title and is refused elsewhere. */
export type ChannelUpdate = { [Field in keyof ChannelChanges]?: Channel[Field] | null | undefined };

/** All channels, inactive ones too, in the order in which they are shown (spec 05 section 13). */
export function listChannels(app: App): Promise<Channel[]> {
  return listAllChannels(app.db);
}

/**
 * Adds an active channel; the messenger is not asked whether it exists. Takes effect with the commit, on every instance within a second.
 * @throws ValidationError | AppError 409 `channel_id_taken`
 */
export async function createChannel(app: App, _actor: AdminActor, draft: ChannelDraft): Promise<Channel> {
  const { channelId, channelLink } = checkFields(app, { channelLink: null, ...draft });
  const { title = null, disableTrialOnLeave, disablePaidOnLeave } = draft;
  const row = { channelId: channelId!, channelLink: channelLink ?? null, title, disableTrialOnLeave, disablePaidOnLeave };
  return inTransaction(app, async (t) => {
    const channel = await insertChannel(t.db, row, t.clock.now());
    await forgetRequiredChannels(t);
    t.audit?.record({ resourceId: channel.id, before: null, after: channel });
    return channel;
    // Any failure: only a violated key becomes another error.
  }).catch(refuseTakenId);
}

/**
 * Changes the fields that are sent. A new `channelId` is another channel of the messenger: what is known about members of the old one is
 * deleted.
 * @throws ValidationError | AppError 404 'Channel not found' | 409 `channel_id_taken`
 */
export async function updateChannel(app: App, _actor: AdminActor, id: number, update: ChannelUpdate): Promise<Channel> {
  const changes = checkFields(app, update);
  // Any failure: only a violated key becomes another error.
  return changeChannel(app, id, () => changes).catch(refuseTakenId);
}

/** Switches a channel on or off. @throws AppError 404 'Channel not found' */
export function toggleChannel(app: App, _actor: AdminActor, id: number): Promise<Channel> {
  return changeChannel(app, id, ({ isActive }) => ({ isActive: !isActive }));
}

/** Deletes a channel with what is known about its members. @throws AppError 404 'Channel not found' */
export function deleteChannel(app: App, _actor: AdminActor, id: number): Promise<void> {
  return inTransaction(app, async (t) => {
    const before = await lockChannel(t.db, id);
    if (!before) throw channelNotFound();
    await deleteChannelRow(t.db, id);
    await forgetRequiredChannels(t);
    t.audit?.record({ resourceId: id, before, after: null });
  });
}

function changeChannel(app: App, id: number, changesOf: (channel: Channel) => Partial<ChannelChanges>): Promise<Channel> {
  return inTransaction(app, async (t) => {
    const before = await lockChannel(t.db, id);
    if (!before) throw channelNotFound();
    const after = { ...before, ...changesOf(before) };
    if (after.channelId !== before.channelId) await deleteMemberships(t.db, before.channelId);
    await updateChannelRow(t.db, after, t.clock.now());
    await forgetRequiredChannels(t);
    t.audit?.record({ resourceId: id, before, after });
    return after;
  });
}

/** The fields that are present, in the form in which they are stored. */
function checkFields(app: App, update: ChannelUpdate): Partial<ChannelChanges> {
  const changes: Record<string, unknown> = {};
  const issues: ValidationIssue[] = [];
  const take = (field: keyof ChannelChanges, reading: FieldReading<unknown>) => {
    if ('issue' in reading) issues.push(reading.issue);
    else changes[field] = reading.value;
  };
  const readLink = (link: string) => readChannelLink(link, app.ports.messengerIdentity.linkBase());
  const { channelId, channelLink, title } = update;
  if (channelId !== undefined) take('channelId', channelId === null ? refuseNull('channel_id') : readChannelId(channelId));
  if (channelLink !== undefined) take('channelLink', channelLink === null ? { value: null } : readLink(channelLink));
  if (title !== undefined) take('title', { value: title });
  for (const [field, name] of PLAIN_FIELDS) {
    const value = update[field];
    if (value !== undefined) take(field, value === null ? refuseNull(name) : { value });
  }
  if (issues.length > 0) throw new ValidationError(issues);
  checkBounds([{ name: 'sort_order', value: update.sortOrder }]);
  return changes as Partial<ChannelChanges>;
}

const PLAIN_FIELDS = [
  ['isActive', 'is_active'],
  ['sortOrder', 'sort_order'],
  ['disableTrialOnLeave', 'disable_trial_on_leave'],
  ['disablePaidOnLeave', 'disable_paid_on_leave'],
] as const;

function refuseTakenId(error: unknown): never {
  throw isUniqueViolation(error, 'channel_id') ? channelIdTaken() : (error as AppError);
}

const MAX_LINK = 500;

/** What was read of a field of a request: its value, or the entry of the 422 answer. */
type FieldReading<T> = { value: T } | { issue: ValidationIssue };

/** `-100` and 10 to 13 digits; the prefix may be left out. */
function readChannelId(raw: string): FieldReading<string> {
  const text = raw.trim();
  const digits = /^(?:-100)?(\d{10,13})$/.exec(text)?.[1];
  if (digits !== undefined) return { value: `-100${digits}` };
  const hint = 'Enter numeric channel ID (e.g. 1234567890) — prefix -100 is added automatically';
  return wrong('channel_id', raw, `Invalid channel_id format: '${text}'. ${hint}`);
}

/**
 * A public link of the messenger: `http` becomes `https`, `@name` the link of the name. At most 500 characters.
 * @param linkBase the messenger's public link host with its scheme, for example `https://t.me`
 */
function readChannelLink(raw: string, linkBase: string): FieldReading<string> {
  const text = raw.trim();
  const host = new URL(linkBase).host;
  const name = /^@(\w{1,64})$/.exec(text)?.[1];
  const link = name === undefined ? publicLink(text, host) : `https://${host}/${name}`;
  if (link !== null && link.length <= MAX_LINK) return { value: link };
  return wrong('channel_link', raw, `channel_link must be a ${host} URL or @username`);
}

function publicLink(text: string, host: string): string | null {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.host !== host || url.username || url.password || url.pathname === '/') return null;
  url.protocol = 'https:';
  return url.href;
}

/** Refuses null for a field that cannot be empty. */
function refuseNull(field: string): { issue: ValidationIssue } {
  return wrong(field, null, `${field} cannot be null`);
}

function wrong(field: string, input: unknown, problem: string): { issue: ValidationIssue } {
  return { issue: validationIssue('value_error', ['body', field], input, { error: `Value error, ${problem}` }) };
}
