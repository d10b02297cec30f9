import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { approveWithdrawal, completeWithdrawal, rejectWithdrawal } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import { eraseUser } from '../../../../src/domain/users/removal.ts';
import { aPair, merge } from '../../../support/merge-samples.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import {
  anAdmin,
  anEarner,
  aRequest,
  moneyOf,
  requestRow,
  reservedOf,
  WITHDRAWALS_ON,
} from '../../../support/withdrawal-samples.ts';

let t: TestApp;
let app: App;
let admin: AdminActor;
beforeAll(async () => {
  t = await testApp({ environment: WITHDRAWALS_ON });
  app = t.app;
  admin = await anAdmin(app);
});

const approve = (id: number, comment: string | null = null, key: string | null = null, by = admin, inApp = app) =>
  approveWithdrawal(inApp, by, { id, comment }, key);
const reject = (id: number, comment: string | null = null, key: string | null = null) =>
  rejectWithdrawal(app, admin, { id, comment }, key);
const complete = (id: number, key: string | null = null, by = admin) => completeWithdrawal(app, by, id, key);

describe('accounts that end', () => {
  test('an erased account keeps no payment details, except of an approved request until it is paid out (spec 01 H18)', async () => {
    const earner = await anEarner(app, 50_000);
    const approved = await aRequest(app, earner, 10_000);
    await approve(approved, 'Hello Anna');
    const rejected = await aRequest(app, earner, 10_000);
    await reject(rejected, 'Sorry Anna');
    const pending = await aRequest(app, earner, 10_000);
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 30_000 });
    await eraseUser(app, admin, earner.userId, { deletesFromPanel: false, reason: null });
    const nothing = { paymentDetails: null, riskAnalysis: null, adminComment: null };
    expect(await requestRow(app, rejected)).toMatchObject({ status: 'rejected', ...nothing });
    expect(await requestRow(app, pending)).toMatchObject({ status: 'cancelled', ...nothing });
    expect([await reservedOf(app, pending), (await moneyOf(app, earner.userId)).balance]).toEqual([0, 0]);
    const owed = { status: 'approved', ...nothing, paymentDetails: 'Card 2200 0000 0000 0004' };
    expect(await requestRow(app, approved)).toMatchObject(owed);
    await complete(approved);
    expect(await requestRow(app, approved)).toMatchObject({ status: 'completed', paymentDetails: null });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a merge moves requests with the money, so that they can be paid out of the merged account', async () => {
    const pair = await aPair(app);
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    await merge(app, { primaryId: pair.primaryId, secondaryId: earner.userId });
    await approve(id);
    await complete(id);
    expect(await moneyOf(app, pair.primaryId)).toMatchObject({ balance: 30_000, payable: 0, paidOut: 20_000 });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M5: after a merge what a request held goes back to the account that remains', async () => {
    const pair = await aPair(app);
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    await merge(app, { primaryId: pair.primaryId, secondaryId: earner.userId });
    expect([(await moneyOf(app, pair.primaryId)).balance, await reservedOf(app, id)]).toEqual([30_000, 20_000]);
    await reject(id);
    expect([(await moneyOf(app, pair.primaryId)).balance, await reservedOf(app, id)]).toEqual([50_000, 0]);
    expect(await checkLedger(app)).toEqual([]);
  });
});
