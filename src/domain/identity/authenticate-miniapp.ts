import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { passGates } from './authenticate-user.ts';
import { userNotActive, userNotFound } from './errors.ts';
import type { InitDataFault } from './ports.ts';
import { findSessionUserByMessengerId } from './repo.ts';
import { MINIAPP_INIT_DATA_MAX_AGE_SECONDS } from './rules.ts';
import type { SessionUser } from './types.ts';

export const initDataRefused = refusal('unauthorized', 401, 'Init data is too old', (detail: string) => ({ detail }));
export const invalidUser = refusal('invalid_user', 400, 'Invalid messenger user payload');

const FAULTS: Record<InitDataFault, string> = {
  bot_token_missing: 'Bot token is not configured',
  signature_missing: 'Missing init data signature',
  signature_invalid: 'Invalid init data signature',
  auth_date_invalid: 'Invalid auth_date value',
  too_old: 'Init data is too old',
  user_unreadable: 'Invalid user payload',
};

/**
 * Reads the messenger id of a mini-app call from the signed data in its body (spec 02 section 12.1, H24). Data without `auth_date`, or older than
 * 24 hours, is refused. The text is a credential: it is used for this check only.
 * @returns messenger id
 * @throws AppError 401 unauthorized | 400 invalid_user
 */
export function readMiniappIdentity(app: App, initData: string): number {
  if (initData.trim() === '') throw initDataRefused('Missing initData');
  const reading = app.ports.messengerIdentity.readInitData(initData, MINIAPP_INIT_DATA_MAX_AGE_SECONDS);
  if (reading.fault !== null) throw initDataRefused(FAULTS[reading.fault]);
  if (!reading.hasUser) throw invalidUser();
  const { messengerId } = reading.identity;
  if (messengerId === null) throw invalidUser({ detail: 'Invalid messenger user identifier' });
  return messengerId;
}

/**
 * The user behind a mini-app call; only the account's status is checked.
 * @throws AppError 401 | 400 | 404 user_not_found | 403 user_not_active
 */
export async function identifyMiniappUser(app: App, initData: string): Promise<SessionUser> {
  const user = await findSessionUserByMessengerId(app.db, readMiniappIdentity(app, initData));
  if (!user) throw userNotFound();
  if (user.status !== 'active') throw userNotActive();
  return user;
}

/**
 * The gate of every mini-app call but the maintenance status: identity, then the checks of the cabinet: status, blacklist,
 * maintenance, required channels (spec 02 H6).
 * @throws AppError as `identifyMiniappUser` | 403 {code: 'blacklisted'} | 503 {code: 'maintenance'} | 403 {code:
 *   'channel_subscription_required'}
 */
export async function authenticateMiniapp(app: App, initData: string): Promise<UserActor> {
  const user = await identifyMiniappUser(app, initData);
  await passGates(app, user);
  return { kind: 'user', userId: user.id };
}
