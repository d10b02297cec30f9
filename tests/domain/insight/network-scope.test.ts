import { beforeAll, expect, test } from 'vitest';
import { listScopeIds } from '../../../src/domain/insight/network/read-network.ts';
import type { Scope } from '../../../src/domain/insight/network/repo.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const USERS = 300;
const MAX_DEPTH = 50;
let t: TestApp;
let first = 0;
const referrerOf = new Map<number, number>();
const campaignOf = new Map<number, number>();
let campaigns: number[] = [];

/** The same numbers in every run. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % bound;
  };
}

beforeAll(async () => {
  t = await testApp();
  const random = numbers(7);
  const rows = await storeRows(
    t.app,
    'User',
    Array.from({ length: USERS }, () => ({})),
  );
  first = rows[0]!.id;
  const created = await storeRows(t.app, 'AdvertisingCampaign', [{}, {}, {}, {}]);
  campaigns = created.map(({ id }) => id);
  for (let n = 1; n < USERS; n++) {
    // A chain of 80 at the end; before it a tree in which a few were invited by somebody with a greater id, as after a merge.
    const isOlder = n % 17 === 5 && n < 200;
    const referrer = n >= 220 ? n - 1 : isOlder ? n + 1 + random(15) : random(5) === 0 ? null : random(n);
    if (referrer === null || (isOlder && referrer % 17 === 5)) continue;
    referrerOf.set(first + n, first + referrer);
  }
  for (const [id, referrer] of [...referrerOf]) {
    try {
      await t.app.db.sql('UPDATE users SET referred_by_id = $2::int WHERE id = $1::int RETURNING id', [id, referrer]);
    } catch {
      // It would have closed a cycle.
      referrerOf.delete(id);
    }
  }
  for (let n = 0; n < USERS; n += 7) {
    campaignOf.set(first + n, campaigns[random(4)]!);
    await storeRow(t.app, 'CampaignRegistration', {
      campaignId: campaignOf.get(first + n),
      userId: first + n,
      bonusType: 'none',
    });
  }
});

/** By the definition: each root with everyone at most 50 levels below it, and everyone above the users. */
function expected({ campaignIds, partnerIds, userIds }: Scope, limit: number): number[] {
  const isRoot = (id: number) => partnerIds.includes(id) || userIds.includes(id) || campaignIds.includes(campaignOf.get(id) ?? 0);
  const found = new Set<number>();
  for (let id = first; id < first + USERS; id++) {
    let at: number | undefined = id;
    for (let depth = 0; depth <= MAX_DEPTH && at !== undefined; depth++, at = referrerOf.get(at)) if (isRoot(at)) found.add(id);
  }
  for (const id of userIds) {
    let at: number | undefined = id;
    for (let depth = 0; depth <= MAX_DEPTH && at !== undefined; depth++, at = referrerOf.get(at)) found.add(at);
  }
  return [...found].sort((a, b) => a - b).slice(0, limit);
}

test('the lowest ids of a scope are those of the definition, for any scope and limit, also where a referral is older than its referrer', async () => {
  const older = [...referrerOf].filter(([id, referrer]) => referrer > id);
  expect(older.length).toBeGreaterThan(3);
  const random = numbers(99);
  const some = () => Array.from({ length: random(3) }, () => first + random(USERS));
  let largest = 0;
  for (let turn = 0; turn < 60; turn++) {
    const scope: Scope = {
      campaignIds: random(3) === 0 ? [campaigns[random(4)]!] : [],
      partnerIds: some(),
      // Someone to whom an older referral leads, in every third turn.
      userIds: turn % 3 === 0 ? [older[random(older.length)]![1], ...some()] : some(),
    };
    for (const limit of [1 + random(12), 40, 1_000]) {
      const ids = await listScopeIds(t.app.db, scope, limit);
      expect({ scope, limit, ids }).toEqual({ scope, limit, ids: expected(scope, limit) });
      largest = Math.max(largest, ids.length);
    }
  }
  expect(largest).toBeGreaterThan(60);
});
