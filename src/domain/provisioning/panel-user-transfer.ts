import type { App } from '../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../core/clock.ts';
import { peek, put } from '../../core/short-lived.ts';
import type { PanelUser } from './ports.ts';

/** Longer than a panel may be down; until the next push the panel user has the former account's messenger id. */
const RECORDED_SECONDS = (30 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_handover:${panelUuid}`;

/**
 * Records that a panel user now belongs to an account with another messenger id, in the transaction that transfers it (spec 01
 * section 8). Without the record the next push would take it for another person's and unlink it; with it the push sends the new id.
 */
export async function transferPanelUser(t: App, panelUuid: string, formerMessengerId: number): Promise<void> {
  await put(t, keyOf(panelUuid), { messenger_id: formerMessengerId }, RECORDED_SECONDS);
}

/** Whether this panel user still has the messenger id of the account that it was transferred from. */
export async function isTransferred(app: App, found: Pick<PanelUser, 'uuid' | 'messengerId'>): Promise<boolean> {
  const transfer = await peek<{ messenger_id: number }>(app, keyOf(found.uuid));
  return transfer !== null && transfer.messenger_id === found.messengerId;
}
