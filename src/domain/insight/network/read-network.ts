import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
import { isAppError, refusal, rethrowUnavailable } from '../../../core/errors.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { isRowId } from '../../../core/row-id.ts';
import { fullName } from '../../identity/rules.ts';
import { percentOfTotal } from '../../referrals/stats/rules.ts';
import { searchTerms } from '../../users/list/rules.ts';
import {
  type CampaignRow,
  findScope,
  listCampaignOptions,
  listCampaignRows,
  listMemberIds,
  listPartners,
  listUserRows,
  type Scope,
  searchCampaignRows,
  searchMemberIds,
  sumBranch,
  type UserRow,
} from './repo.ts';

export const nothingSelected = refusal('nothing_selected', 400, 'At least one campaign, partner, or user must be selected');
export const tooManySelected = refusal('too_many_selected', 400, 'Too many items selected (max <n>)');
export const nothingFound = refusal('nothing_found', 404, 'No valid items found for the provided IDs');
export const userNotFound = refusal('user_not_found', 404, 'User not found');
export const campaignNotFound = refusal('campaign_not_found', 404, 'Campaign not found');

/** The network of referrals and campaigns. Kopeks, all time, completed payments. */

/** Most users of a graph: those with the lowest ids. */
const MAX_USERS = 5_000;
const MAX_SCOPE = 50;
const MAX_HITS = 20;

export interface UserNode extends Omit<UserRow, 'tariffName' | 'isTrial' | 'isLive'> {
  displayName: string;
  isPartner: boolean;
  /** Direct referrals; of a single user everyone below. */
  totalBranchUsers: number;
  subscriptionName: string | null;
  subscriptionStatus: 'trial_active' | 'trial_expired' | 'paid_active' | 'paid_expired' | null;
}

export interface CampaignNode
  extends Pick<CampaignRow, 'id' | 'name' | 'startParameter' | 'isActive' | 'directUsers' | 'partnerUserId'> {
  /** Registrants and whom they referred. */
  totalNetworkUsers: number;
  totalRevenueKopeks: number;
  /** Percent with two decimals. */
  conversionRate: number;
  avgCheckKopeks: number;
  topReferrers: { userId: number; username: string | null; referralCount: number }[];
}

interface Edge {
  source: string;
  target: string;
  type: 'referral' | 'campaign' | 'partner_campaign';
}

export interface Network {
  users: UserNode[];
  campaigns: CampaignNode[];
  edges: Edge[];
  totalUsers: number;
  totalReferrers: number;
  totalCampaigns: number;
  totalEarningsKopeks: number;
  totalSubscriptionRevenueKopeks: number;
}

function userNode({ tariffName, isTrial, isLive, ...row }: UserRow): UserNode {
  return {
    ...row,
    displayName: fullName(row),
    isPartner: row.partnerStatus === 'approved',
    totalBranchUsers: row.directReferrals,
    subscriptionName: tariffName,
    subscriptionStatus: isTrial === null ? null : `${isTrial ? 'trial' : 'paid'}_${isLive ? 'active' : 'expired'}`,
  };
}

function campaignNode({ referrals, buyers, spentKopeks, topReferrers, ...row }: CampaignRow): CampaignNode {
  return {
    ...row,
    totalNetworkUsers: row.directUsers + referrals,
    totalRevenueKopeks: spentKopeks,
    conversionRate: percentOfTotal(buyers, row.directUsers),
    avgCheckKopeks: buyers === 0 ? 0 : Math.floor(spentKopeks / buyers),
    topReferrers: topReferrers.map((top) => ({
      userId: top.user_id,
      username: top.username,
      referralCount: top.referral_count,
    })),
  };
}

/** The edges whose ends are shown: of referrals, of registrations, of partners; each by ids. */
function edgesOf(users: readonly UserNode[], campaigns: readonly CampaignNode[]): Edge[] {
  const [userIds, campaignIds] = [new Set(users.map(({ id }) => id)), new Set(campaigns.map(({ id }) => id))];
  const edges: Edge[] = [];
  for (const { id, referredById } of users) {
    if (referredById !== null && userIds.has(referredById)) {
      edges.push({ source: `user_${referredById}`, target: `user_${id}`, type: 'referral' });
    }
  }
  for (const { id, campaignId } of users) {
    if (campaignId !== null && campaignIds.has(campaignId)) {
      edges.push({ source: `campaign_${campaignId}`, target: `user_${id}`, type: 'campaign' });
    }
  }
  for (const { id, partnerUserId } of campaigns) {
    if (partnerUserId !== null && userIds.has(partnerUserId)) {
      edges.push({ source: `user_${partnerUserId}`, target: `campaign_${id}`, type: 'partner_campaign' });
    }
  }
  return edges;
}

function networkOf(users: readonly UserNode[], campaigns: readonly CampaignNode[]): Network {
  const sum = (value: (user: UserNode) => number) => users.reduce((total, user) => total + value(user), 0);
  return {
    users: [...users],
    campaigns: [...campaigns],
    edges: edgesOf(users, campaigns),
    totalUsers: users.length,
    totalReferrers: sum((user) => (user.directReferrals > 0 ? 1 : 0)),
    totalCampaigns: campaigns.length,
    totalEarningsKopeks: sum((user) => user.personalRevenueKopeks),
    totalSubscriptionRevenueKopeks: sum((user) => user.personalSpentKopeks),
  };
}

async function listUsers(app: App, ids: readonly number[]): Promise<UserNode[]> {
  return (await listUserRows(app.db, ids, app.clock.now())).map(userNode);
}

/** The whole network, and all campaigns. */
export async function readNetwork(app: App): Promise<Network> {
  const [ids, campaigns] = await Promise.all([listMemberIds(app.db, MAX_USERS), listCampaignRows(app.db, null)]);
  return networkOf(await listUsers(app, ids), campaigns.map(campaignNode));
}

/**
 * The network around campaigns, approved partners and users, with the campaigns of everyone in it.
 * @throws AppError 400 'At least one campaign, partner, or user must be selected', 'Too many items selected (max 50)'
 * @throws AppError 404 'No valid items found for the provided IDs'
 */
export async function readScopedNetwork(app: App, requested: Scope): Promise<Network> {
  const unique = {
    campaignIds: [...new Set(requested.campaignIds)],
    partnerIds: [...new Set(requested.partnerIds)],
    userIds: [...new Set(requested.userIds)],
  };
  const items = Object.values(unique).reduce((total, ids) => total + ids.length, 0);
  if (items === 0) throw nothingSelected();
  if (items > MAX_SCOPE) throw tooManySelected({ detail: `Too many items selected (max ${MAX_SCOPE})` });
  const scope = await findScope(app.db, unique);
  if (Object.values(scope).every((ids: readonly number[]) => ids.length === 0)) throw nothingFound();
  const users = await listUsers(app, await listScopeIds(app.db, scope, MAX_USERS));
  const campaignIds = new Set([...scope.campaignIds, ...users.flatMap(({ campaignId }) => campaignId ?? [])]);
  return networkOf(users, (await listCampaignRows(app.db, [...campaignIds])).map(campaignNode));
}

/** Any user with everyone below. @throws AppError 404 'User not found' */
export async function readNetworkUser(app: App, userId: number) {
  const [user] = isRowId(userId) ? await listUsers(app, [userId]) : [];
  if (!user) throw userNotFound();
  const [branch, referrers, campaigns] = await Promise.all([
    sumBranch(app.db, userId),
    user.referredById === null ? [] : listUsers(app, [user.referredById]),
    user.campaignId === null ? [] : listCampaignRows(app.db, [user.campaignId]),
  ]);
  return {
    ...user,
    totalBranchUsers: branch.users,
    branchRevenueKopeks: branch.spentKopeks,
    referrerDisplayName: referrers[0]?.displayName ?? null,
    campaignName: campaigns[0]?.name ?? null,
  };
}

/** @throws AppError 404 'Campaign not found' */
export async function readNetworkCampaign(app: App, campaignId: number): Promise<CampaignNode> {
  const [row] = isRowId(campaignId) ? await listCampaignRows(app.db, [campaignId]) : [];
  if (!row) throw campaignNotFound();
  return campaignNode(row);
}

/** Members and campaigns that match a text, 20 each, the lowest ids. Of campaigns only what their lists show. */
export async function searchNetwork(app: App, query: string): Promise<{ users: UserNode[]; campaigns: CampaignNode[] }> {
  const terms = searchTerms(query);
  if (terms === null) return { users: [], campaigns: [] };
  const [ids, campaigns] = await Promise.all([
    searchMemberIds(app.db, terms, MAX_HITS),
    searchCampaignRows(app.db, terms.pattern, MAX_HITS),
  ]);
  const short = (row: CampaignRow) => ({ ...campaignNode(row), conversionRate: 0, avgCheckKopeks: 0, topReferrers: [] });
  return { users: await listUsers(app, ids), campaigns: campaigns.map(short) };
}

/** What a scope can be made of: all campaigns by name, approved partners by id. */
export async function readScopeOptions(app: App) {
  const [campaigns, partners] = await Promise.all([listCampaignOptions(app.db), listPartners(app.db)]);
  return { campaigns, partners: partners.map((partner) => ({ ...partner, displayName: fullName(partner) })) };
}

export const rateLimited = refusal('rate_limited', 429, 'Too many requests');

/** Requests of an administrator in a window of 60 s, by endpoint. */
const LIMITS = { graph: 10, scoped: 10, 'scope-options': 30, user: 30, campaign: 30, search: 30 } as const;
const WINDOW_SECONDS = 60;

/**
 * Counts a request to the network. What cannot be counted is refused likewise.
 * @throws AppError 429 'Too many requests' with `Retry-After: 60`
 */
export async function limitNetwork(app: App, actor: AdminActor, endpoint: keyof typeof LIMITS): Promise<void> {
  try {
    await limitOrRefuse(app, `referral_network:${endpoint}:admin:${actor.userId}`, LIMITS[endpoint], WINDOW_SECONDS);
  } catch (error) {
    if (isAppError(error) && error.status === 429) throw error;
    rethrowUnavailable(error);
    throw rateLimited({ headers: { 'Retry-After': String(WINDOW_SECONDS) }, cause: error });
  }
}

/**
 * The members of a part of the network with the lowest ids, however large the part is: a referral nearly always has
 * a greater id than its referrer, so the users below someone beyond the lowest ids found so far need not be looked at. Those few whose id is
 * lower than that of their referrer (after merges) are looked up by themselves.
 */

/** Most levels up or down. */
const MAX_DEPTH = 50;

/** SQL: does a user belong to the scope itself? $1 campaigns, $2 partners, $3 users. */
const isRoot = (id: string) =>
  `(${id} = ANY($2::int[]) OR ${id} = ANY($3::int[]) OR EXISTS (
     SELECT 1 FROM advertising_campaign_registrations r WHERE r.user_id = ${id} AND r.campaign_id = ANY($1::int[])))`;

const valuesOf = ({ campaignIds, partnerIds, userIds }: Scope): unknown[] => [[...campaignIds], [...partnerIds], [...userIds]];
const idsOf = (rows: { id: number }[]): number[] => rows.map(({ id }) => id);

/** Registrants of the campaigns, partners and users: the lowest ids. */
async function listRoots(db: Db, scope: Scope, limit: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM (
       SELECT r.user_id AS id FROM unnest($1::int[]) AS c (id) CROSS JOIN LATERAL (
         SELECT user_id FROM advertising_campaign_registrations WHERE campaign_id = c.id ORDER BY user_id LIMIT $4::int) r
       UNION SELECT unnest($2::int[]) UNION SELECT unnest($3::int[])) x ORDER BY id LIMIT $4::int`,
    [...valuesOf(scope), limit],
  );
  return idsOf(rows);
}

/** Who is below a root although the id is lower than that of the own referrer, with the distance from the nearest root. */
function listOlderThanReferrer(db: Db, scope: Scope): Promise<{ id: number; depth: number }[]> {
  return db.sql<{ id: number; depth: number }>(
    `WITH RECURSIVE above (id, at, depth) AS (
       SELECT u.id, u.referred_by_id, 1 FROM users u WHERE u.referred_by_id > u.id AND NOT ${isRoot('u.id')}
       UNION ALL SELECT a.id, u.referred_by_id, a.depth + 1 FROM above a JOIN users u ON u.id = a.at
       WHERE a.depth < ${MAX_DEPTH} AND u.referred_by_id IS NOT NULL AND NOT ${isRoot('a.at')})
     SELECT a.id, min(a.depth)::int AS depth FROM above a WHERE ${isRoot('a.at')} GROUP BY a.id`,
    valuesOf(scope),
  );
}

/** Everyone above the users. */
async function listAbove(db: Db, userIds: readonly number[]): Promise<number[]> {
  if (userIds.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE above (id, depth) AS (
       SELECT unnest($1::int[]), 0
       UNION SELECT u.referred_by_id, a.depth + 1 FROM above a JOIN users u ON u.id = a.id
       WHERE a.depth < ${MAX_DEPTH} AND u.referred_by_id IS NOT NULL)
     SELECT DISTINCT id FROM above`,
    [[...userIds]],
  );
  return idsOf(rows);
}

/** The direct referrals with ids below a bound: the lowest ones. @param bound null = none */
async function listReferrals(db: Db, referrerIds: readonly number[], bound: number | null, limit: number): Promise<number[]> {
  if (referrerIds.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    `SELECT u.id FROM unnest($1::int[]) AS f (id) CROSS JOIN LATERAL (
       SELECT x.id FROM users x WHERE x.referred_by_id = f.id AND x.id < $2::bigint ORDER BY x.id LIMIT $3::int) u
     ORDER BY u.id LIMIT $3::int`,
    [[...referrerIds], bound ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return idsOf(rows);
}

/** Ids in rising order, each once, the lowest ones. */
const lowest = (ids: Iterable<number>, limit: number): number[] => [...new Set(ids)].sort((a, b) => a - b).slice(0, limit);

/** The lowest ids of a scope: registrants of the campaigns, partners and users, all below them, and all above the users. */
export async function listScopeIds(db: Db, scope: Scope, limit: number): Promise<number[]> {
  const [roots, older, above] = await Promise.all([
    listRoots(db, scope, limit),
    listOlderThanReferrer(db, scope),
    listAbove(db, scope.userIds),
  ]);
  let found = roots;
  let level = roots;
  const lastOlder = Math.max(0, ...older.map(({ depth }) => depth));
  for (let depth = 1; depth <= MAX_DEPTH && (level.length > 0 || depth <= lastOlder); depth += 1) {
    const bound = found.length < limit ? null : found.at(-1)!;
    const known = new Set(found);
    const referrals = await listReferrals(db, level, bound, limit);
    const reached = [...referrals, ...older.filter((user) => user.depth === depth).map(({ id }) => id)];
    const added = reached.filter((id) => !known.has(id));
    found = lowest([...found, ...added], limit);
    const kept = new Set(found);
    level = added.filter((id) => kept.has(id));
  }
  return lowest([...found, ...above], limit);
}
