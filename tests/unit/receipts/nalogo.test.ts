import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ReceiptSandbox, startReceiptSandbox } from '../../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import { ReceiptError, type ReceiptSession } from '../../../src/domain/receipts/ports.ts';
import { matchesOf, receiptDeadline, receiptMark, receiptName } from '../../../src/domain/receipts/rules.ts';
import { nalogoPort } from '../../../src/integrations/receipts/nalogo/nalogo-port.ts';
import { sealTokens, unsealTokens } from '../../../src/integrations/receipts/nalogo/nalogo-sign-in.ts';
import { incomeAmounts, incomeBody, moscowTime } from '../../../src/integrations/receipts/nalogo/nalogo-wire.ts';
import { memoryStore, onceHttp } from '../../support/loopback-http.ts';

const INN = '123456789012';
const SECRET = 'password of the account';
const START = new Date('2026-10-02T21:30:00.000Z');

let nalogo: ReceiptSandbox;
let now = START;
let stored: string | null;
beforeEach(async () => {
  now = START;
  stored = null;
  nalogo = await startReceiptSandbox({ store: memoryStore(), inn: INN, secret: SECRET, now: () => now });
});
afterEach(() => nalogo.close());

const session: ReceiptSession = {
  deviceId: 'abcdefghijklmnopqrstu',
  load: async () => stored,
  save: async (tokens) => {
    stored = tokens;
  },
};

function port(password = SECRET, baseUrl = nalogo.server.url) {
  return nalogoPort({
    http: onceHttp('nalogo'),
    connection: () => ({ baseUrl, inn: INN, password }),
    configuredDeviceId: () => null,
    now: () => now,
  });
}

const draft = { name: 'Top-up #0123456789ab', amountKopeks: 49_990, operationAt: START };
const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof ReceiptError)) throw error;
      return error.failure;
    },
  );
const fault = (call: string, ...kinds: ('unauthorized' | 'refused' | 'html' | 'unavailable' | 'lost_before' | 'lost_after')[]) =>
  nalogo.faults.next.push(...kinds.map((kind) => ({ call, fault: kind })));

describe('the vectors of the specification', () => {
  interface Vector {
    provider: string;
    id: string;
    input: string | { kopeks: number };
    expected: string | { amount: number; totalAmount: string };
  }
  const { vectors } = JSON.parse(readFileSync('docs/spec/vectors/provider-vectors.json', 'utf8')) as { vectors: Vector[] };
  const nalogVectors = vectors.filter(({ provider }) => provider === 'nalog');
  test('are these', () => expect(nalogVectors.map(({ id }) => id)).toEqual(['nalog.time', 'nalog.time-2', 'nalog.amount']));
  test.each(nalogVectors)('$id', ({ input, expected }) => {
    const made = typeof input === 'string' ? moscowTime(new Date(input)) : incomeAmounts(input.kopeks);
    expect(made).toEqual(expected);
  });

  test('amounts are exact hundredths in JSON, also large ones', () => {
    for (const kopeks of [1, 7, 110, 49_990, 123_456_789, 2_400_000_01])
      expect(JSON.stringify(incomeAmounts(kopeks))).toBe(
        `{"amount":${(kopeks / 100).toFixed(2).replace(/\.?0+$/, '')},"totalAmount":"${Math.floor(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}"}`,
      );
  });

  test('the body of an income', () => {
    expect(incomeBody({ ...draft, operationAt: new Date('2026-10-02T20:59:59.999Z') }, START)).toEqual({
      operationTime: '2026-10-02T23:59:59+03:00',
      requestTime: '2026-10-03T00:30:00+03:00',
      services: [{ name: draft.name, amount: 499.9, quantity: 1 }],
      totalAmount: '499.90',
      client: { contactPhone: null, displayName: null, incomeType: 'FROM_INDIVIDUAL', inn: null },
      paymentType: 'CASH',
      ignoreMaxTotalIncomeRestriction: false,
    });
  });
});

describe('the sign-in', () => {
  test('401 is answered with a refresh, and the call is made again', async () => {
    const service = port().open(session);
    await service.issue(draft);
    fault('POST /income', 'unauthorized');
    await service.issue(draft);
    expect(nalogo.calls).toEqual(['POST /auth/lkfl', 'POST /income', 'POST /income', 'POST /auth/token', 'POST /income']);
    expect(await nalogo.list()).toHaveLength(2);
  });

  test('a refused refresh is answered with one sign-in by the password', async () => {
    await port().open(session).issue(draft);
    nalogo.calls.length = 0;
    fault('POST /income', 'unauthorized');
    fault('POST /auth/token', 'unauthorized');
    await port().open(session).issue(draft);
    expect(nalogo.calls).toEqual(['POST /income', 'POST /auth/token', 'POST /auth/lkfl', 'POST /income']);
  });

  test('refreshed once, signed in once, then the receipt waits: nothing was made', async () => {
    await port().open(session).issue(draft);
    nalogo.calls.length = 0;
    fault('POST /income', 'unauthorized', 'unauthorized', 'unauthorized');
    expect(await failureOf(port().open(session).issue(draft))).toBe('credentials');
    expect(nalogo.calls.map((call) => call.slice(5))).toEqual(['/income', '/auth/token', '/income', '/auth/lkfl', '/income']);
    expect(await nalogo.list()).toHaveLength(1);
  });

  test('a refresh without an answer is no reason to use the password', async () => {
    await port().open(session).issue(draft);
    nalogo.calls.length = 0;
    fault('POST /income', 'unauthorized');
    fault('POST /auth/token', 'unavailable');
    expect(await failureOf(port().open(session).issue(draft))).toBe('not_sent');
    expect(nalogo.calls).not.toContain('POST /auth/lkfl');
  });

  test('takes the token that another instance has got meanwhile', async () => {
    const [one, other] = [port().open(session), port().open(session)];
    await one.issue(draft);
    await other.issue(draft);
    fault('POST /income', 'unauthorized');
    await one.issue(draft);
    nalogo.calls.length = 0;
    fault('POST /income', 'unauthorized');
    await other.issue(draft);
    expect(nalogo.calls).toEqual(['POST /income', 'POST /income']);
  });

  test('an ended token is refreshed before it is used', async () => {
    await port().open(session).issue(draft);
    now = new Date(START.getTime() + 3_600_000);
    nalogo.calls.length = 0;
    await port().open(session).issue(draft);
    expect(nalogo.calls).toEqual(['POST /auth/token', 'POST /income']);
  });

  test('a wrong password is said as such, and the message has no secret', async () => {
    const call = port('another password').open(session).issue(draft);
    expect(await failureOf(call)).toBe('credentials');
    const error = await call.catch((caught: unknown) => caught as Error);
    expect(JSON.stringify([String(error), (error as Error).stack])).not.toMatch(/another password|123456789012/);
  });

  test('stored tokens are of no use to another password, nor are others', async () => {
    const account = { inn: INN, password: SECRET };
    const tokens = { token: 'token', expiresAt: START, refreshToken: 'refresh' };
    const sealed = await sealTokens(account, tokens);
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('refresh');
    expect(await unsealTokens(account, sealed)).toEqual(tokens);
    expect(await unsealTokens({ ...account, password: 'x' }, sealed)).toBeNull();
    expect(await unsealTokens({ ...account, inn: '1' }, sealed)).toBeNull();
    for (const text of ['', 'abc', sealed.slice(0, -4)]) expect(await unsealTokens(account, text)).toBeNull();
  });
});

describe('a failure', () => {
  test.each([
    ['lost_before', 'unclear'],
    ['lost_after', 'unclear'],
    ['html', 'unclear'],
    ['unavailable', 'unclear'],
    ['refused', 'rejected'],
  ] as const)('%s of an income or a cancellation is %s, of a sign-in or a list never unclear', async (kind, failure) => {
    const service = port().open(session);
    fault('POST /auth/lkfl', kind);
    expect(await failureOf(service.issue(draft))).toBe(kind === 'refused' ? 'credentials' : 'not_sent');
    const uuid = await service.issue(draft);
    fault('POST /income', kind);
    expect(await failureOf(service.issue(draft))).toBe(failure);
    fault('GET /incomes', kind);
    expect(await failureOf(service.listAround(START))).toBe('not_sent');
    fault('POST /cancel', kind);
    expect(await failureOf(service.cancel(uuid))).toBe(failure);
  });

  test('without a connection nothing was sent', async () => {
    await port().open(session).issue(draft);
    expect(await failureOf(port(SECRET, 'http://127.0.0.1:9').open(session).issue(draft))).toBe('not_sent');
  });

  test('while receipts are off no call is made', async () => {
    const off = nalogoPort({ http: onceHttp(), connection: () => null, configuredDeviceId: () => null, now: () => now });
    expect(off.isConfigured()).toBe(false);
    expect(off.printUrl('x')).toBeNull();
    expect(await failureOf(off.open(session).issue(draft))).toBe('not_configured');
  });
});

describe('the list', () => {
  test('is read to its end, with what is cancelled', async () => {
    const service = port().open(session);
    for (let one = 0; one < 51; one++) await service.issue({ ...draft, name: `Top-up #${one}` });
    const uuid = await service.issue(draft);
    await service.cancel(uuid);
    const listed = await service.listAround(START);
    expect(listed).toHaveLength(52);
    expect(listed.filter(({ isCancelled }) => isCancelled)).toEqual([{ uuid, name: draft.name, isCancelled: true }]);
    expect(await service.listAround(new Date(START.getTime() + 90_000_000))).toEqual([]);
  });

  test('the page of a receipt has the version in its path', () => {
    const real = port(SECRET, 'https://lknpd.nalog.ru/api/v1');
    expect(real.printUrl('20ab/c')).toBe(`https://lknpd.nalog.ru/api/v1/receipt/${INN}/20ab%2Fc/print`);
  });
});

describe('the rules of receipts', () => {
  test('a mark is that of one order and one receipt of it, and found at the end of a name only', () => {
    const mark = receiptMark('order', 1);
    expect(mark).toMatch(/^[0-9a-f]{12}$/);
    expect(receiptMark('order', 2)).toBe(`${mark}-2`);
    expect(receiptMark('other', 1)).not.toBe(mark);
    const listed = [`a #${mark}`, `a #${mark}-2`, `#${mark} a`, `a${mark}`].map((name, at) => ({
      uuid: `${at}`,
      name,
      isCancelled: false,
    }));
    expect(matchesOf(mark, listed).valid.map(({ uuid }) => uuid)).toEqual(['0']);
    expect(matchesOf(mark, [{ ...listed[0]!, isCancelled: true }])).toMatchObject({ valid: [], cancelled: [{ uuid: '0' }] });
  });

  test('a name keeps its mark, however long the description is', () => {
    const name = receiptName('я'.repeat(500), 5_000_000_001, 'abc');
    expect(name).toHaveLength(256);
    expect(name.endsWith('я (ID 5000000001) #abc')).toBe(true);
    expect(receiptName(' Top-up ', null, 'abc')).toBe('Top-up #abc');
  });

  test.each([
    ['2026-10-31T20:59:59.999Z', '2026-11-09T21:00:00.000Z'],
    ['2026-10-31T21:00:00.000Z', '2026-12-09T21:00:00.000Z'],
    ['2026-12-15T00:00:00.000Z', '2027-01-09T21:00:00.000Z'],
  ])('the receipt of a payment of %s is late from %s', (paid, late) => {
    expect(receiptDeadline(new Date(paid)).toISOString()).toBe(late);
  });
});
