import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isHandedOver } from './hand-over.ts';
import { isPanelError, type PanelUser } from './ports.ts';
import { findHolderOf, lockHolders, type PushTarget, unlinkPanelUser } from './repo.ts';
import { isLinkageValid, panelEmailOf } from './rules.ts';

export interface FoundPanelUser {
  user: PanelUser;
  /** Found by name, not by the stored link: whatever devices it knows are not this subscription's. */
  isAdopted: boolean;
}

/**
 * The panel's user of this subscription: by the stored uuid, else by messenger id, else by confirmed e-mail (spec 06 section 9).
 * Only a definite absence or another messenger id unlinks; a panel that does not answer throws and changes nothing.
 * An e-mail that is unconfirmed or not of the panel's form is not looked up (`panelEmailOf`).
 */
export async function findPanelUser(app: App, owner: PushTarget['user']): Promise<FoundPanelUser | null> {
  const { panel } = app.ports;
  if (owner.panelUuid !== null) {
    const { id, panelUuid } = owner;
    const linked = await panel.findByUuid(panelUuid);
    if (linked !== null && (isLinkageValid(linked, owner.messengerId) || (await isHandedOver(app, linked)))) {
      return { user: linked, isAdopted: false };
    }
    await inTransaction(app, async (t) => {
      await lockHolders(t.db, [id]);
      await unlinkPanelUser(t.db, id, panelUuid);
    });
    app.log.warn(
      { userId: id, isAbsent: linked === null },
      'provisioning: the stored panel user is gone or another one; unlinked',
    );
  }
  const email = panelEmailOf(owner);
  const candidates = [
    () => (owner.messengerId === null ? null : panel.findByMessengerId(owner.messengerId)),
    () => (email === null ? null : findByEmail(app, email)),
  ];
  for (const find of candidates) {
    const found = await find();
    if (found !== null && (await mayAdopt(app, owner, found))) return { user: found, isAdopted: true };
  }
  return null;
}

/** An address that the panel calls malformed is nobody's there; any other refusal, as of the credentials, says nothing. */
async function findByEmail(app: App, email: string): Promise<PanelUser | null> {
  try {
    return await app.ports.panel.findByEmail(email);
  } catch (error) {
    if (isPanelError(error) && error.kind === 'rejected' && (error.status === 400 || error.status === 422)) return null;
    throw error;
  }
}

/**
 * May this user take over a panel user found by name? Not one of another messenger id, and not one that another local user holds,
 * unless the panel itself names this user's messenger id.
 */
export async function mayAdopt(app: App, owner: PushTarget['user'], found: PanelUser): Promise<boolean> {
  if (!isLinkageValid(found, owner.messengerId)) return false;
  const holder = await findHolderOf(app.db, found.uuid);
  if (holder === null || holder === owner.id) return true;
  return owner.messengerId !== null && found.messengerId === owner.messengerId;
}
