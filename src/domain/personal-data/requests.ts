import { type Actor, type AdminActor, actorName, type UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, confirmedNow, DAY_MS, HOUR_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { isRowId } from '../../core/row-id.ts';
import { isStaff } from '../identity/authenticate.ts';
import { userNotFound } from '../identity/errors.ts';
import { guardTarget } from '../identity/find-user.ts';
import { requireProof } from '../identity/sessions/fresh-sign-in.ts';
import { announce, recordDataStep } from './announce.ts';
import { linkTo } from './archive-link.ts';
import { type Confirmed, requireNoObligations } from './obligations.ts';
import {
  changeRequest,
  type DataRequest,
  deleteEndedRequests,
  findNewest,
  findPerson,
  findRequest,
  insertRequest,
  listRequests,
  newRequest,
  readObligations,
} from './repo.ts';

export const personalDataOff = refusal('personal_data_off', 403, 'The operator does not let users do this themselves');
export const dataRequestNotFound = refusal('data_request_not_found', 404, 'Request not found');
export const erasureOfStaff = refusal(
  'erasure_of_staff',
  403,
  'The account of a member of the staff is erased by an administrator',
);

/** Exports of a person in a day. */
const EXPORTS = 1;
const DAY_SECONDS = 86_400;

/** What the person may do, has asked for, and what stands against an erasure. */
export async function readMyData(app: App, { userId }: UserActor) {
  const [exported, erasure, { open, balanceKopeks }] = await Promise.all([
    findNewest(app.db, userId, 'export'),
    findNewest(app.db, userId, 'erasure'),
    readObligations(app.db, userId, app.clock.now()),
  ]);
  const facts = { selfService: app.settings.get('PERSONAL_DATA_SELF_SERVICE'), obligations: open, balanceKopeks };
  return { ...facts, erasureDays: app.settings.get('PERSONAL_DATA_ERASURE_DAYS'), export: exported, erasure };
}

/**
 * Requests the archive of the person who asks, once a day. A repeat while one is being written answers that one.
 * @throws AppError 403 | 429
 */
export async function requestMyExport(app: App, actor: UserActor): Promise<DataRequest> {
  if (app.settings.get('PERSONAL_DATA_SELF_SERVICE') === 'off') throw personalDataOff();
  await requireProof(app, actor);
  const open = await findNewest(app.db, actor.userId, 'export');
  if (open?.state === 'requested') return open;
  await limitOrRefuse(app, `personal-data:export:${actor.userId}`, EXPORTS, DAY_SECONDS);
  return requestExport(app, actor, actor.userId);
}

/** The same for an administrator. @throws AppError 404 'User not found' | 403 (spec 01 H5) */
export async function requestExportOf(app: App, actor: AdminActor, userId: number): Promise<DataRequest> {
  await guardTarget(app, actor, userId, 'change');
  return requestExport(app, actor, userId);
}

function requestExport(app: App, actor: Actor, userId: number): Promise<DataRequest> {
  return inTransaction(app, async (t) => {
    if (!(await findPerson(t.db, userId, true))) throw userNotFound();
    const open = await findNewest(t.db, userId, 'export', true);
    const request = open ?? (await insertRequest(t.db, newRequest(actor, userId, 'export', null), t.clock.now()));
    if (open) return open;
    await t.jobs.send('persons.export', { requestId: request.id }, { singletonKey: String(request.id) });
    await recordRequest(t, actor, request);
    return request;
  });
}

async function recordRequest(t: App, actor: Actor, request: DataRequest): Promise<void> {
  if (actor.kind === 'admin') t.audit?.record({ before: null, after: { request: request.id, state: request.state } });
  else await recordDataStep(t, request, actorName(actor), 'requested');
}

/** An own request with a link to its archive. @throws AppError 404 for one of somebody else, too | 403 | 409 unless it is ready */
export async function linkToMyArchive(app: App, actor: UserActor, requestId: number, baseUrl: string | null) {
  const request = await requireRequest(app, requestId);
  if (request.userId !== actor.userId) throw dataRequestNotFound();
  await requireProof(app, actor);
  return linkTo(app, request, baseUrl);
}

/** The link for an administrator. @throws AppError 404 | 403 (spec 01 H5) | 409 */
export async function linkToArchive(app: App, actor: AdminActor, requestId: number, baseUrl: string | null) {
  const request = await requireRequest(app, requestId);
  await guardTarget(app, actor, request.userId, 'change');
  const link = await linkTo(app, request, baseUrl);
  app.audit?.record({ after: { request: request.id, user: request.userId } });
  return link;
}

/** @throws AppError 404 */
export async function requireRequest(app: App, requestId: number): Promise<DataRequest> {
  const request = isRowId(requestId) ? await findRequest(app.db, requestId) : null;
  if (!request) throw dataRequestNotFound();
  return request;
}

export function listDataRequests(app: App, query: { userId?: number | null | undefined; limit: number; offset: number }) {
  const userId = query.userId ?? null;
  return userId !== null && !isRowId(userId) ? { items: [], total: 0 } : listRequests(app.db, { ...query, userId });
}

/**
 * Requests the erasure of the own account after `PERSONAL_DATA_ERASURE_DAYS`, until when it can be cancelled. A repeat answers the open request.
 * @throws AppError 403 | 409 with what is open
 */
export async function requestMyErasure(app: App, actor: UserActor, confirmed: Confirmed): Promise<DataRequest> {
  const { userId } = actor;
  if (app.settings.get('PERSONAL_DATA_SELF_SERVICE') !== 'export_and_erasure') throw personalDataOff();
  if (await isStaff(app, userId)) throw erasureOfStaff();
  await requireProof(app, actor);
  return inTransaction(app, async (t) => {
    if (!(await findPerson(t.db, userId, true))) throw userNotFound();
    const open = await findNewest(t.db, userId, 'erasure', true);
    if (open) return open;
    const dueAt = addDays(t.clock.now(), t.settings.get('PERSONAL_DATA_ERASURE_DAYS'));
    const { forfeitsKopeks } = await requireNoObligations(t, userId, confirmed);
    const wanted = newRequest(actor, userId, 'erasure', dueAt);
    const request = await insertRequest(
      t.db,
      Object.assign(wanted, { forfeitsKopeks, endsSubscription: confirmed.endsSubscription }),
      t.clock.now(),
    );
    await recordRequest(t, actor, request);
    await announce(t, request, 'erasure_requested');
    return request;
  });
}

/** Cancels the own erasure that was not executed yet, whatever the setting is. A repeat answers the cancelled one. @throws AppError 404 */
export function cancelMyErasure(app: App, actor: UserActor): Promise<DataRequest> {
  return inTransaction(app, async (t) => {
    await findPerson(t.db, actor.userId, true);
    const open = await findNewest(t.db, actor.userId, 'erasure', true);
    const finishedAt = t.clock.now();
    if (open && (await changeRequest(t.db, open.id, 'requested', { state: 'cancelled', finishedAt }))) {
      await recordDataStep(t, open, actorName(actor), 'cancelled');
      await announce(t, open, 'erasure_cancelled');
    }
    const newest = await findNewest(t.db, actor.userId, 'erasure');
    if (newest?.state !== 'cancelled') throw dataRequestNotFound();
    return newest;
  });
}

const PURGED_AT_ONCE = 5_000;

/**
 * Deletes ended requests after `PERSONAL_DATA_RECORD_DAYS`, but none while a backup that is older than it can be in the folder: by its row an
 * erasure is executed again after a restore. @returns how many
 */
export async function purgeRequests(app: App): Promise<number> {
  const { settings, clock } = app;
  const backupDays = (settings.get('BACKUP_MAX_KEEP') * settings.get('BACKUP_INTERVAL_HOURS') * HOUR_MS) / DAY_MS;
  const now = await confirmedNow(clock);
  const before = addDays(now, -Math.max(settings.get('PERSONAL_DATA_RECORD_DAYS'), Math.ceil(backupDays)));
  for (let deleted = 0; ; ) {
    const rows = await deleteEndedRequests(app.db, before, PURGED_AT_ONCE);
    deleted += rows;
    if (rows < PURGED_AT_ONCE) return deleted;
  }
}
