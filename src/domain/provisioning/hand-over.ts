import type { App } from '../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../core/clock.ts';
import { peek, put } from '../../core/short-lived.ts';
import type { PanelUser } from './ports.ts';

/** Long enough for any panel to come back; until then the panel user is known by its old name. */
const KNOWN_SECONDS = (30 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_handover:${panelUuid}`;

/**
 * Notes that a panel user now belongs to an account with another messenger id, in the transaction that gives it away (spec 01
 * section 8). Without the note the next push would take it for somebody else's and unlink it; with it the push writes the new id.
 */
export async function handOverPanelUser(t: App, panelUuid: string, formerMessengerId: number): Promise<void> {
  await put(t, keyOf(panelUuid), { messenger_id: formerMessengerId }, KNOWN_SECONDS);
}

/** Does this panel user still carry the messenger id of the account that it was taken over from? */
export async function isHandedOver(app: App, found: Pick<PanelUser, 'uuid' | 'messengerId'>): Promise<boolean> {
  const note = await peek<{ messenger_id: number }>(app, keyOf(found.uuid));
  return note !== null && note.messenger_id === found.messengerId;
}
