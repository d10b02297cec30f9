/** Lists and searches over a large installation (aim: p95 of at most 50 ms each). */
import type { Lab } from './lab.ts';
import type { PlannedRequest } from './load-generator.ts';
import type { DatabaseKind } from './options.ts';
import { percentileMs } from './statistics.ts';

export interface BigListResult {
  database: DatabaseKind;
  users: number;
  transactions: number;
  title: string;
  p50Ms: number;
  p95Ms: number;
  maxMs: number;
  requests: number;
  failures: number;
}

/** Few at a time: the aim is the cost of a query, without waiting for others. */
const READERS = 2;
const DAY_MS = 86_400_000;

interface BigList {
  title: string;
  paths: string[];
  /** Default: those of the Web API. */
  as?: 'user' | 'administrator';
}

function lists(lab: Lab, users: number): BigList[] {
  const ids = lab.userIds.slice(0, 50);
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const some = Array.from({ length: 40 }, (_, index) => 1 + Math.floor((index * users) / 40));
  return [
    { title: 'GET /users, first page', paths: ['/users?limit=50'] },
    { title: 'GET /users, page in the middle', paths: [`/users?limit=50&offset=${Math.floor(users / 2)}`] },
    {
      title: 'GET /users?status=blocked',
      paths: ['/users?limit=50&status=blocked', '/users?limit=50&status=blocked&offset=1000'],
    },
    { title: 'GET /users?search= one name of 24', paths: ['/users?search=anna', '/users?search=Boris', '/users?search=zoya'] },
    { title: 'GET /users?search= one user', paths: some.map((n) => `/users?search=ref${n.toString(16).padStart(8, '0')}`) },
    { title: 'GET /users?search= two letters', paths: ['/users?search=iv', '/users?search=qz'] },
    { title: 'GET /users?search= nothing found', paths: ['/users?search=nobodyhasthisname'] },
    { title: 'GET /users?search=&status=', paths: ['/users?search=anna&status=blocked'] },
    { title: 'GET /transactions, first page', paths: ['/transactions?limit=50'] },
    { title: 'GET /transactions?user_id=', paths: ids.map((id) => `/transactions?limit=50&user_id=${id}`) },
    {
      title: 'GET /transactions?type=',
      paths: ['/transactions?limit=50&type=deposit', '/transactions?limit=50&type=subscription_payment'],
    },
    {
      title: 'GET /transactions?payment_method=&is_completed=',
      paths: ['/transactions?limit=50&payment_method=yookassa&is_completed=true', '/transactions?limit=50&is_completed=false'],
    },
    {
      title: 'GET /transactions?date_from=&date_to=',
      paths: [7, 90, 365].map((days) => `/transactions?limit=50&date_from=${day(days + 30)}&date_to=${day(days)}`),
    },
    { title: 'GET /transactions?offset=10000', paths: ['/transactions?limit=50&offset=10000'] },
    { title: 'GET /cabinet/balance/transactions', paths: ['/cabinet/balance/transactions?page=1&per_page=20'], as: 'user' },
    { title: 'GET /subscriptions, first page', paths: ['/subscriptions?limit=50'] },
    ...adminLists(users, some),
    ...paymentLists(some),
  ];
}

/** The administrator's payments: lists, searches and their figures (spec 03 section 4.4). */
function paymentLists(some: number[]): BigList[] {
  const titled: [string, string[]][] = [
    ['pending', ['?page=1', '?page=50', '?method_filter=yookassa']],
    ['stats', ['/stats']],
    ['search, first page and page 500', ['/search?period=all', '/search?period=all&page=500']],
    ['search by status', ['pending', 'paid', 'cancelled'].map((status) => `/search?period=all&status_filter=${status}`)],
    ['search by method', ['yookassa', 'wata'].map((method) => `/search?period=30d&method_filter=${method}`)],
    ['search= one invoice', some.map((n) => `/search?period=all&search=bench-${n}`)],
    ['search= one user', some.map((n) => `/search?period=all&search=${100_000_000_000 + n}`)],
    ['search= one name of 24', ['anna', 'zoya'].map((name) => `/search?period=all&search=${name}`)],
    ['search= nothing found', ['/search?period=all&search=nobodyhasthisname']],
    ['search/stats', ['/search/stats?period=all', '/search/stats?period=30d', '/search/stats?period=all&search=anna']],
  ];
  return titled.map(([title, queries]) => ({
    title: `GET /cabinet/admin/payments ${title}`,
    paths: queries.map((query) => `/cabinet/admin/payments${query}`),
    as: 'administrator' as const,
  }));
}

/** The administrator's list of users: its orders, filters and searches (spec 01 section 11.1). */
function adminLists(users: number, some: number[]): BigList[] {
  const list = '/cabinet/admin/users';
  const sorts = ['balance', 'total_spent', 'purchase_count', 'last_activity', 'traffic'];
  const titled: [string, string[]][] = [
    ['first page', ['?limit=50']],
    ['page in the middle', [`?limit=50&offset=${Math.floor(users / 2)}`]],
    ['?sort_by= each', sorts.map((sort) => `?limit=50&sort_by=${sort}`)],
    ['?status= each', ['active', 'blocked', 'deleted'].map((status) => `?limit=50&status=${status}`)],
    ['?status=&sort_by=', sorts.map((sort) => `?limit=50&status=blocked&sort_by=${sort}&offset=500`)],
    ['?search= one name of 24', ['?search=anna', '?search=Boris', '?search=zoya']],
    ['?search= one user', some.map((n) => `?search=${100_000_000_000 + n}`)],
    ['?search= two letters', ['?search=iv', '?search=qz']],
    ['?search= nothing found', ['?search=nobodyhasthisname']],
    ['?email= one of 19 families', ['?email=ivanov', '?email=Petrov']],
    ['?email= one user', some.map((n) => `?email=${n}@example`)],
    ['?search=&status=&sort_by=', ['?search=anna&status=blocked&sort_by=balance', '?search=ivanov&sort_by=total_spent']],
  ];
  return titled.map(([title, queries]) => ({
    title: `GET ${list} ${title}`,
    paths: queries.map((query) => list + query),
    as: 'administrator' as const,
  }));
}

function itemsOf(lab: Lab, { as, paths }: BigList): PlannedRequest[] {
  const under = (headers: Record<string, string>) => paths.map((path) => ({ path, headers }));
  if (as === 'user') return lab.userIds.slice(0, 50).flatMap((id) => under(lab.asUser(id)));
  return under(as === 'administrator' ? lab.administrator : { 'x-api-key': lab.operator['x-api-key']! });
}

export async function measureBigLists(
  lab: Lab,
  size: { users: number; transactions: number },
  seconds: number,
  progress: (text: string) => void,
): Promise<BigListResult[]> {
  const results: BigListResult[] = [];
  for (const list of lists(lab, size.users)) {
    progress(list.title);
    const items = itemsOf(lab, list);
    const order = { url: lab.service.url, connections: READERS, requests: { method: 'GET' as const, items } };
    await lab.load({ ...order, seconds: 1 });
    const result = await lab.load({ ...order, seconds });
    const at = (share: number) => percentileMs(result.latencies, share);
    results.push({
      ...size,
      database: lab.kind,
      title: list.title,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      maxMs: at(1),
      requests: result.requests,
      failures: result.failures,
    });
  }
  return results;
}
