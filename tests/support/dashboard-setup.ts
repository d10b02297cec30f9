import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GUARD_HEADER } from '../../packages/sandbox/src/page/sandbox-reply.ts';
import { eventually } from './eventually.ts';

/** What the example dashboard shows, made by the published interface of a running service with its sandbox. */

interface Session {
  user: { id: number };
  access_token: string;
}

export const OWNER = 'owner@service.example';
const REQUESTER = 'requester@service.example';
export const HELPER = 'helper@service.example';
export const CUSTOMER = 'vera@customer.example';
export const PASSWORD = 'correct horse 9';
/** Changes of balances from this amount on wait for a second administrator. */
export const APPROVAL_KOPEKS = 10_000;

export interface DashboardSetup {
  customer: Session;
  requester: Session;
  helperRoleId: number;
  /** Below the customer. */
  referralIds: number[];
  call(method: string, path: string, credential: string | Session | null, body?: object): Promise<unknown>;
  /** A customer with nothing, whose account is an event of the feed. */
  createUser(messengerId: number, firstName: string, referrerId?: number): Promise<number>;
  /** Moves the service's time. */
  skipTime(ms: number): Promise<void>;
  /** The customer tops up and buys the first tariff, if it is not bought yet. */
  topUp(rubles: number): Promise<void>;
  buy(): Promise<void>;
}

export async function setUpDashboard(url: string, dataFolder: string): Promise<DashboardSetup> {
  const apiToken = (await readFile(join(dataFolder, 'api-token'), 'utf8')).trim();

  /** @param credential a session, or the API token. @throws Error with the answer unless it succeeded */
  async function call(method: string, path: string, credential: string | Session | null, body?: object): Promise<unknown> {
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    if (typeof credential === 'string') headers['x-api-key'] = credential;
    else if (credential) headers.authorization = `Bearer ${credential.access_token}`;
    const response = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** @throws Error while there is no letter */
  async function verificationToken(email: string): Promise<string> {
    const state = (await (await fetch(`${url}/sandbox/api/state`)).json()) as { mail: { to: string; text: string }[] };
    const letter = state.mail.find(({ to }) => to === email);
    const token = /verify-email\?token=([\w.~%-]+)/.exec(letter?.text ?? '')?.[1];
    if (token === undefined) throw new Error(`no letter to ${email}`);
    return token;
  }

  async function register(email: string, campaign: object = {}): Promise<Session> {
    await call('POST', '/cabinet/auth/email/register/standalone', null, {
      email,
      password: PASSWORD,
      first_name: email.split('@')[0],
    });
    const token = decodeURIComponent(await eventually(() => verificationToken(email)));
    await call('POST', '/cabinet/auth/email/verify', null, { token, ...campaign });
    // A link from a letter is no proof of who opens it.
    return (await call('POST', '/cabinet/auth/email/login', null, { email, password: PASSWORD })) as Session;
  }

  async function createUser(messengerId: number, firstName: string, referrerId?: number): Promise<number> {
    const referrer = referrerId === undefined ? {} : { referred_by_id: referrerId };
    const body = { messenger_id: messengerId, first_name: firstName, username: firstName.toLowerCase(), ...referrer };
    return ((await call('POST', '/users', apiToken, body)) as { id: number }).id;
  }

  async function assign(owner: Session, user: Session, name: string, permissions: string[]): Promise<number> {
    const role = (await call('POST', '/cabinet/admin/rbac/roles', owner, { name, level: 20, permissions })) as { id: number };
    await call('POST', '/cabinet/admin/rbac/assignments', owner, { user_id: user.user.id, role_id: role.id });
    return role.id;
  }

  const owner = await register(OWNER);
  await call('POST', '/campaigns', apiToken, { name: 'Весна', start_parameter: 'spring', bonus_type: 'none' });
  const customer = await register(CUSTOMER, { campaign_slug: 'spring' });
  const [requester, helper] = [await register(REQUESTER), await register(HELPER)];
  await assign(owner, requester, 'Accountant', ['users:read', 'users:balance']);
  const helperRoleId = await assign(owner, helper, 'Reader', ['users:read']);
  const referralIds = [await createUser(880_001, 'Anna', customer.user.id), await createUser(880_002, 'Boris', customer.user.id)];
  referralIds.push(await createUser(880_003, 'Clara', referralIds[0]));

  async function topUp(rubles: number): Promise<void> {
    const [method] = (await call('GET', '/cabinet/balance/payment-methods', customer)) as { id: string }[];
    const body = { amount_kopeks: rubles * 100, payment_method: method!.id };
    const topup = (await call('POST', '/cabinet/balance/topup', customer, body)) as { payment_url: string };
    const paid = await fetch(`${topup.payment_url}/pay`, { method: 'POST' });
    if (!paid.ok) throw new Error(`the payment page answered ${paid.status}`);
  }

  async function buy(): Promise<void> {
    const { tariffs } = (await call('GET', '/cabinet/subscription/purchase-options', customer)) as {
      tariffs: { id: number; periods: { days: number }[] }[];
    };
    const [tariff] = tariffs;
    const body = { tariff_id: tariff!.id, period_days: tariff!.periods[0]!.days };
    await call('POST', '/cabinet/subscription/purchase-tariff', customer, body);
  }

  async function skipTime(ms: number): Promise<void> {
    const headers = { 'content-type': 'application/json', [GUARD_HEADER]: '1' };
    const moved = await fetch(`${url}/sandbox/api/clock`, { method: 'POST', headers, body: JSON.stringify({ advance_ms: ms }) });
    if (!moved.ok) throw new Error(`the clock was not moved: ${moved.status}`);
  }

  return { customer, requester, helperRoleId, referralIds, call, createUser, skipTime, topUp, buy };
}
