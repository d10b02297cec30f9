import type { App } from '../../core/app.ts';
import { findByEmail, findById, findByMessengerId } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import type { UserRecord } from './types.ts';

const MAX_ID = 2_147_483_647;

/** The user with this internal id, whatever the status; null for an unknown id, one that no id can be included (spec 01 H23). */
export async function findUserById(app: App, id: number): Promise<UserRecord | null> {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID ? findById(app.db, id) : null;
}

/** The user with this messenger id, whatever the status. */
export async function findUserByMessengerId(app: App, messengerId: number): Promise<UserRecord | null> {
  return Number.isSafeInteger(messengerId) ? findByMessengerId(app.db, messengerId) : null;
}

/** The user with this e-mail in any case of letters, whatever the status, verified or not. */
export async function findUserByEmail(app: App, email: string): Promise<UserRecord | null> {
  return findByEmail(app.db, normaliseEmail(email));
}
