/** Every request of the administration's statistics that is measured, with each form of its parameters. */
import { BASIC_SEGMENTS, CUSTOM_SEGMENTS, EMAIL_SEGMENTS } from '../../../../src/domain/broadcasts/rules.ts';
import type { landmarks } from './statistics-seed.ts';

/** Who asks: an administrator of the cabinet (a different one each time), a user of it, or a caller of the Web API. */
export type Caller = 'administrator' | 'user' | 'token';

export interface MeasuredRequest {
  title: string;
  as: Caller;
  /** Sent in turn. */
  requests: { path: string; body?: unknown }[];
}

/** Ids that the data of `statistics-seed.ts` has. */
export type SeededIds = ReturnType<typeof landmarks> & {
  users: number;
  firstCampaign: number;
  firstContest: number;
  attemptedRound: number;
  template: number;
  tariff: number;
};

const DAY_MS = 86_400_000;
const get = (as: Caller, title: string, ...paths: string[]): MeasuredRequest => ({
  ...{ title, as },
  requests: paths.map((path) => ({ path })),
});

export function statisticsRequests(ids: SeededIds): MeasuredRequest[] {
  return [
    ...adminStats(),
    ...salesStats(),
    ...network(ids),
    ...webStats(),
    ...contests(ids),
    ...audiences(ids),
    ...campaigns(ids),
    ...payments(ids),
  ];
}

function adminStats(): MeasuredRequest[] {
  const root = '/cabinet/admin/stats';
  return [
    ...['dashboard', 'system-info', 'nodes'].map((name) => get('administrator', `stats ${name}`, `${root}/${name}`)),
    ...[20, 100].flatMap((limit) => [
      get('administrator', `stats referrals/top ${limit}`, `${root}/referrals/top?limit=${limit}`),
      get('administrator', `stats campaigns/top ${limit}`, `${root}/campaigns/top?limit=${limit}`),
      get('administrator', `stats payments/recent ${limit}`, `${root}/payments/recent?limit=${limit}`),
    ]),
  ];
}

function salesStats(): MeasuredRequest[] {
  const at = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const day = (daysAgo: number) => at(daysAgo).slice(0, 10);
  const periods = {
    'days=7': '?days=7',
    'days=30': '?days=30',
    'days=90': '?days=90',
    'days=365': '?days=365',
    'days=730': '?days=730',
    'everything (days=0)': '?days=0',
    'two dates': `?start_date=${day(120)}&end_date=${day(30)}`,
    'two timestamps with a zone': `?start_date=${encodeURIComponent(`${day(400)}T13:37:11+03:00`)}&end_date=${encodeURIComponent(`${day(3)}T08:00:00+03:00`)}`,
    'one day': `?start_date=${day(200)}&end_date=${day(200)}`,
    '730 days by dates': `?start_date=${encodeURIComponent(at(728))}&end_date=${day(1)}`,
  };
  const parts = ['summary', 'trials', 'subscriptions', 'renewals', 'addons', 'deposits'];
  return parts.flatMap((part) =>
    Object.entries(periods).map(([title, query]) =>
      get('administrator', `sales ${part}, ${title}`, `/cabinet/admin/stats/sales/${part}${query}`),
    ),
  );
}

function network({ users, deepPartner, flatPartner, chainEnd, firstCampaign, campaigns }: SeededIds): MeasuredRequest[] {
  const root = '/cabinet/admin/referral-network';
  const network = (title: string, ...paths: string[]) =>
    get('administrator', `network ${title}`, ...paths.map((path) => root + path));
  const some = Array.from({ length: 40 }, (_, index) => 2 + Math.floor((index * users) / 41));
  const many = (name: string, list: readonly number[]) => list.map((id) => `${name}=${id}`).join('&');
  return [
    network('whole (5,000 users)', '/'),
    network('scope-options', '/scope-options'),
    network('user', ...some.map((id) => `/user/${id}`)),
    network('user: all referrals direct', `/user/${flatPartner}`),
    network('user: the largest branch', `/user/${deepPartner}`),
    network('user: end of a chain', `/user/${chainEnd}`),
    network('scoped: a user', ...some.map((id) => `/scoped?user_ids=${id}`)),
    network('scoped: partner with direct referrals', `/scoped?partner_ids=${flatPartner}`),
    network('scoped: partner with the largest branch', `/scoped?partner_ids=${deepPartner}`),
    network('scoped: end of a chain', `/scoped?user_ids=${chainEnd}`),
    network('scoped: the largest campaign', `/scoped?campaign_ids=${firstCampaign}`),
    network('scoped: a campaign', ...[5, 50, 150].map((n) => `/scoped?campaign_ids=${firstCampaign + n}`)),
    network('scoped: 50 users', `/scoped?${many('user_ids', [...some, ...some.map((id) => id + 1)].slice(0, 50))}`),
    network(
      'scoped: 50 campaigns',
      `/scoped?${many(
        'campaign_ids',
        Array.from({ length: Math.min(50, campaigns) }, (_, n) => firstCampaign + n),
      )}`,
    ),
    network('campaign', ...[0, 5, 50].map((n) => `/campaign/${firstCampaign + n}`)),
    network('search: one name of 24', '/search?q=anna', '/search?q=Zoya'),
    network('search: one user', ...some.map((id) => `/search?q=${id}%40example`)),
    network('search: an id', ...some.map((id) => `/search?q=${id}`)),
    network('search: two letters, nothing found', '/search?q=iv', '/search?q=nobodyhasthisname'),
    network('search: campaigns', '/search?q=campaign', '/search?q=bench1'),
  ];
}

function webStats(): MeasuredRequest[] {
  return ['overview', 'full'].map((name) => get('token', `/stats/${name}`, `/stats/${name}`));
}

function contests({ firstContest, attemptedRound, template }: SeededIds): MeasuredRequest[] {
  const daily = '/contests/daily';
  const large: [string, number][] = [
    ['many participants', firstContest],
    ['2,000 participants', firstContest + 1],
  ];
  return [
    get(
      'token',
      'contests templates',
      `${daily}/templates`,
      `${daily}/templates?enabled_only=true`,
      `${daily}/templates/${template}`,
    ),
    get(
      'token',
      'contests rounds, each filter',
      ...['active', 'finished', 'any'].flatMap((status) => [
        `${daily}/rounds?status_filter=${status}`,
        `${daily}/rounds?status_filter=${status}&template_id=${template}`,
      ]),
    ),
    get('token', 'contests round', `${daily}/rounds/${attemptedRound}`),
    get(
      'token',
      'contests attempts',
      `${daily}/rounds/${attemptedRound}/attempts`,
      `${daily}/rounds/${attemptedRound}/attempts?winners_only=true`,
    ),
    get('token', 'contests attempts, offset 5,000', `${daily}/rounds/${attemptedRound}/attempts?offset=5000`),
    get('user', 'cabinet contests count', '/cabinet/contests/count'),
    get('user', 'cabinet contests', '/cabinet/contests'),
    get(
      'token',
      'referral contests list',
      '/contests/referral',
      '/contests/referral?contest_type=referral_paid',
      '/contests/referral?offset=400',
    ),
    ...large.flatMap(([title, id]) => [
      get(
        'token',
        `referral contest with leaderboard, ${title}`,
        `/contests/referral/${id}`,
        `/contests/referral/${id}?leaderboard_limit=50`,
      ),
      get('token', `referral contest events, ${title}`, `/contests/referral/${id}/events`),
      get('token', `referral contest events, offset 5,000, ${title}`, `/contests/referral/${id}/events?offset=5000`),
      get('token', `referral contest detailed-stats, ${title}`, `/contests/referral/${id}/detailed-stats`),
    ]),
  ];
}

function audiences({ tariff }: SeededIds): MeasuredRequest[] {
  const root = '/cabinet/admin/broadcasts';
  const preview = (path: string, target: string): MeasuredRequest => ({
    title: `broadcasts ${path} ${target}`,
    as: 'administrator',
    requests: [{ path: `${root}/${path}`, body: { target } }],
  });
  return [
    ...['filters', 'email-filters', 'tariffs'].map((name) => get('administrator', `broadcasts ${name}`, `${root}/${name}`)),
    ...[...BASIC_SEGMENTS, ...CUSTOM_SEGMENTS, `tariff_${tariff}`].map((target) => preview('preview', target)),
    ...EMAIL_SEGMENTS.map((target) => preview('email-preview', target)),
    get('administrator', 'broadcasts list', `${root}?limit=20`),
    get('administrator', 'pinned messages', '/cabinet/admin/pinned-messages'),
  ];
}

function campaigns({ firstCampaign }: SeededIds): MeasuredRequest[] {
  const root = '/cabinet/admin/campaigns';
  return [
    get('administrator', 'campaigns overview', `${root}/overview`),
    get('administrator', 'campaign stats', ...[0, 5].map((n) => `${root}/${firstCampaign + n}/stats`)),
    get('administrator', 'campaign chart-data', ...[0, 5].map((n) => `${root}/${firstCampaign + n}/chart-data`)),
    get('administrator', 'campaign registrations', ...[0, 5].map((n) => `${root}/${firstCampaign + n}/registrations`)),
  ];
}

function payments({ users }: SeededIds): MeasuredRequest[] {
  const some = Array.from({ length: 40 }, (_, index) => 1 + Math.floor((index * users) / 40));
  const forms: [string, string[]][] = [
    ['pending', ['?page=1', '?page=50', '?method_filter=yookassa']],
    ['stats', ['/stats']],
    ...['24h', '7d', '30d', 'all'].map((period): [string, string[]] => [
      `search, period=${period}`,
      [`/search?period=${period}`],
    ]),
    ['search, page 500', ['/search?period=all&page=500']],
    ['search, each status', ['pending', 'paid', 'cancelled'].map((status) => `/search?period=all&status_filter=${status}`)],
    ['search, method', ['yookassa', 'wata'].map((method) => `/search?period=30d&method_filter=${method}`)],
    ['search, one invoice', some.map((n) => `/search?period=all&search=bench-${n}`)],
    ['search, one user', some.map((n) => `/search?period=all&search=${100_000_000_000 + n}`)],
    ['search, one name of 24', ['anna', 'zoya'].map((name) => `/search?period=all&search=${name}`)],
    ['search, nothing found', ['/search?period=all&search=nobodyhasthisname']],
    ['search/stats', ['/search/stats?period=all', '/search/stats?period=30d']],
    ['search/stats, one name of 24', ['/search/stats?period=all&search=anna']],
  ];
  return forms.map(([title, queries]) =>
    get('administrator', `payments ${title}`, ...queries.map((query) => `/cabinet/admin/payments${query}`)),
  );
}
