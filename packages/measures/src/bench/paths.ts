/** The paths that are measured against the baseline, with their aims (docs/performance.md); shares of the baseline. */
import type { Lab } from './lab.ts';
import type { RequestPlan } from './load-generator.ts';
import { BENCH_PASSWORD } from './seed-data.ts';
import type { Aim } from './statistics.ts';

export interface MeasuredPath {
  name: string;
  title: string;
  /** Service throughput as a share of the baseline's. */
  ratioAim: Aim;
  /** What was reached on a quiet machine, less the spread of its rounds: `--check` fails below it. */
  ratioFloor: number;
  /** p99 of the service as a multiple of the baseline's. */
  p99Aim?: Aim;
  /** Whether service and baseline must answer with the same bytes. */
  sameBytes: boolean;
  connections: number;
  /** Measured with a service behind a proxy, so that requests can name many client addresses. */
  isBehindProxy?: true;
  service: (lab: Lab) => RequestPlan;
  bare: (lab: Lab) => RequestPlan;
}

const READERS = 16;
/** Comparing a password takes a processor for a third of a second: more at the same time would only wait. */
const HASHERS = 4;
const JSON_TYPE = { 'content-type': 'application/json' };
const ADJUSTMENT = JSON.stringify({ amount_kopeks: 100, description: 'Benchmark' });
const CALLBACK = JSON.stringify({
  event_id: '@id@',
  type: 'invoice.paid',
  invoice: { id: '@id@', status: 'paid', amount_kopeks: 50_000 },
});
const SIGNATURE = 'x-sandbox-signature';

const get = (paths: string[], headers: Record<string, string> = {}): RequestPlan => ({
  method: 'GET',
  items: paths.map((path) => ({ path, headers })),
});

export const PATHS: readonly MeasuredPath[] = [
  {
    name: 'user-by-id',
    title: 'GET /users/{id}, API key',
    ratioAim: { atLeast: 0.65 },
    ratioFloor: 0.62,
    p99Aim: { atMost: 3 },
    sameBytes: true,
    connections: READERS,
    service: (lab) =>
      get(
        lab.userIds.map((id) => `/users/${id}`),
        { 'x-api-key': lab.operator['x-api-key']! },
      ),
    bare: (lab) => get(lab.userIds.map((id) => `/user/${id}`)),
  },
  {
    name: 'own-balance',
    title: 'GET /cabinet/balance, JWT',
    ratioAim: { atLeast: 0.65 },
    ratioFloor: 0.6,
    p99Aim: { atMost: 3 },
    sameBytes: true,
    connections: READERS,
    service: (lab) => ({
      method: 'GET',
      items: lab.userIds.map((id) => ({ path: '/cabinet/balance', headers: { authorization: lab.asUser(id).authorization! } })),
    }),
    bare: (lab) => get(lab.userIds.map((id) => `/balance/${id}`)),
  },
  {
    name: 'transactions',
    title: 'GET /transactions?limit=50',
    ratioAim: { atLeast: 0.85 },
    ratioFloor: 0.78,
    sameBytes: true,
    connections: READERS,
    service: (lab) => get(['/transactions?limit=50'], { 'x-api-key': lab.operator['x-api-key']! }),
    bare: () => get(['/transactions?limit=50']),
  },
  {
    name: 'users',
    title: 'GET /users?limit=50',
    ratioAim: { atLeast: 0.85 },
    ratioFloor: 0.78,
    sameBytes: true,
    connections: READERS,
    service: (lab) => get(['/users?limit=50'], { 'x-api-key': lab.operator['x-api-key']! }),
    bare: () => get(['/users?limit=50']),
  },
  {
    name: 'me',
    title: 'GET /cabinet/auth/me, JWT',
    ratioAim: { atLeast: 0.65 },
    ratioFloor: 0.57,
    p99Aim: { atMost: 3 },
    sameBytes: true,
    connections: READERS,
    service: (lab) => ({
      method: 'GET',
      items: lab.userIds.map((id) => ({ path: '/cabinet/auth/me', headers: { authorization: lab.asUser(id).authorization! } })),
    }),
    bare: (lab) => get(lab.userIds.map((id) => `/me/${id}`)),
  },
  {
    name: 'login',
    title: 'POST /cabinet/auth/email/login, password',
    ratioAim: { atLeast: 0.8 },
    ratioFloor: 0.9,
    sameBytes: false,
    connections: HASHERS,
    isBehindProxy: true,
    service: (lab) => logins(lab.emails, '/cabinet/auth/email/login'),
    bare: (lab) => logins(lab.emails, '/login'),
  },
  {
    name: 'admin-users',
    title: 'GET /cabinet/admin/users?limit=50, JWT and permission',
    ratioAim: { atLeast: 0.85 },
    ratioFloor: 0.85,
    sameBytes: true,
    connections: READERS,
    service: (lab) => get(['/cabinet/admin/users?limit=50'], { authorization: lab.administrator.authorization! }),
    bare: (lab) => get([`/listed/${lab.adminId}`]),
  },
  {
    name: 'balance-write',
    title: 'POST /users/{id}/balance, Idempotency-Key',
    ratioAim: { atLeast: 0.7 },
    ratioFloor: 0.57,
    sameBytes: false,
    connections: READERS,
    service: (lab) => ({
      method: 'POST',
      withKey: true,
      items: lab.userIds.map((id) => ({ path: `/users/${id}/balance`, headers: lab.operator, body: ADJUSTMENT })),
    }),
    bare: (lab) => ({
      method: 'POST',
      withKey: true,
      items: lab.userIds.map((id) => ({ path: `/adjust/${id}`, headers: JSON_TYPE, body: ADJUSTMENT })),
    }),
  },
  {
    name: 'callback',
    title: 'POST provider callback, signed',
    ratioAim: { atLeast: 0.6 },
    ratioFloor: 0.55,
    sameBytes: true,
    connections: READERS,
    service: (lab) => callbacks('/sandbox-payment-webhook', lab.callbackSecret),
    bare: (lab) => callbacks('/callback', lab.callbackSecret),
  },
  {
    name: 'purchase',
    title: 'POST /cabinet/subscription/purchase-tariff, Idempotency-Key',
    ratioAim: { atLeast: 0.45 },
    ratioFloor: 0.28,
    sameBytes: false,
    connections: READERS,
    service: (lab) => ({
      method: 'POST',
      withKey: true,
      items: lab.userIds.map((id) => ({
        path: '/cabinet/subscription/purchase-tariff',
        headers: lab.asUser(id),
        body: order(lab),
      })),
    }),
    bare: (lab) => ({
      method: 'POST',
      withKey: true,
      items: lab.userIds.map((id) => ({ path: `/purchase/${id}`, headers: JSON_TYPE, body: order(lab) })),
    }),
  },
];

/** @throws Error for an unknown name */
export function pathNamed(name: string): MeasuredPath {
  const found = PATHS.find((path) => path.name === name);
  if (!found) throw new Error(`no path ${name}`);
  return found;
}

function callbacks(path: string, secret: string): RequestPlan {
  return { method: 'POST', signed: { header: SIGNATURE, secret }, items: [{ path, headers: JSON_TYPE, body: CALLBACK }] };
}

/** Sign-ins by password, each from an address of its own: one address gets ten tries a minute. */
export function logins(emails: readonly string[], path: string): RequestPlan {
  const items = Array.from({ length: 4_000 }, (_, n) => ({
    path,
    headers: { ...JSON_TYPE, 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` },
    body: JSON.stringify({ email: emails[n % emails.length], password: BENCH_PASSWORD }),
  }));
  return { method: 'POST', items };
}

const order = (lab: Lab) => JSON.stringify({ tariff_id: lab.tariffId, period_days: 30 });
