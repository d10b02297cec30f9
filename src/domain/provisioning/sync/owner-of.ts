import type { App } from '../../../core/app.ts';
import { isTransferred } from '../panel-user-transfer.ts';
import { isLinkageValid } from '../rules.ts';
import type { MatchedEntry } from './snapshot-repo.ts';
import type { SkipReason, SnapshotEntry, SyncedUser } from './types.ts';

/** Characters of the column. */
const MAX_EMAIL = 255;

/**
 * The account of a panel user: by the stored uuid where the messenger ids agree, by messenger id, by confirmed e-mail (spec 06 section
 * 17, hazard 4). A panel user that was transferred to another account has the old messenger id until its next push, and belongs to the
 * new account. An account that is linked to another panel user of the list keeps that link.
 * @returns `unknown`: no account has its messenger id or, without one, its e-mail; null: another panel user of its account is the linked
 *   one; a reason: it cannot be told which account it belongs to
 */
export async function ownerOf(
  t: App,
  { entry: { user }, linkedUserId, byMessengerId, isAnotherListed, byEmail, isEmailTaken }: MatchedEntry,
  owners: ReadonlyMap<number, SyncedUser>,
): Promise<number | 'unknown' | SkipReason | null> {
  const linked = linkedUserId === null ? null : (owners.get(linkedUserId) ?? null);
  const isLinkValid = linked !== null && isLinkageValid(user, linked.messengerId);
  if (linked !== null && !isLinkValid && (await isTransferred(t, user))) return linked.id;
  if (user.messengerId !== null) {
    if (isAnotherListed) return null;
    return byMessengerId ?? (isLinkValid ? linkedUserId : 'unknown');
  }
  if (isLinkValid) return linkedUserId;
  if (byEmail !== null) return owners.get(byEmail)?.vpnpanelUuid === null ? byEmail : null;
  if (user.email === null || user.email.trim() === '') return 'no_messenger_id_and_no_email';
  // Anyone can enter the address of another person: only its confirmation makes an account its owner.
  if (isEmailTaken) return 'email_not_confirmed_here';
  return user.email.length > MAX_EMAIL ? 'email_too_long' : 'unknown';
}

/** A panel user, and the account that it belongs to. */
export interface OwnedEntry {
  entry: SnapshotEntry;
  ownerId: number;
}

/**
 * Two panel users may belong to one account, one by messenger id and one by e-mail alone. All values of an account come from one of
 * them: the linked one, else the one with the messenger id.
 */
export function onePerOwner(known: readonly OwnedEntry[], owners: ReadonlyMap<number, SyncedUser>): OwnedEntry[] {
  const rank = ({ entry: { user }, ownerId }: OwnedEntry): number => {
    if (owners.get(ownerId)?.vpnpanelUuid === user.uuid) return 0;
    return user.messengerId === null ? 2 : 1;
  };
  const chosen = new Map<number, OwnedEntry>();
  for (const owned of known) {
    const other = chosen.get(owned.ownerId);
    if (!other || rank(owned) < rank(other)) chosen.set(owned.ownerId, owned);
  }
  return [...chosen.values()];
}
