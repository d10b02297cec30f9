import type { App } from '../../core/app.ts';
import { isRowId } from '../../core/row-id.ts';
import { findByEmail, findById, findByMessengerId } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import type { UserRecord } from './types.ts';

/** The user with this internal id, in any status; null for an unknown or impossible id (spec 01 H23). */
export async function findUserById(app: App, id: number): Promise<UserRecord | null> {
  return isRowId(id) ? findById(app.db, id) : null;
}

/** The user with this messenger id, in any status. */
export async function findUserByMessengerId(app: App, messengerId: number): Promise<UserRecord | null> {
  return Number.isSafeInteger(messengerId) ? findByMessengerId(app.db, messengerId) : null;
}

/** The user with this e-mail, case-insensitive, in any status, verified or not. */
export async function findUserByEmail(app: App, email: string): Promise<UserRecord | null> {
  return findByEmail(app.db, normaliseEmail(email));
}
