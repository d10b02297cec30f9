import type { App } from '../../core/app.ts';
import type { Random } from '../../core/random.ts';
import { initState, readState, writeState } from '../../core/service-state.ts';
import type { ReceiptSession } from './ports.ts';

const DEVICE_KEY = 'receipts:device';
const SESSION_KEY = 'receipts:session';
const DEVICE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const DEVICE_LENGTH = 21;

/** The sign-in that all instances share (03a section 15). */
export async function openReceiptSession(app: App): Promise<ReceiptSession> {
  const deviceId = app.ports.receipts.configuredDeviceId() ?? (await initState(app.db, DEVICE_KEY, newDeviceId(app.random)));
  return {
    deviceId,
    load: async () => (await readState<{ tokens: string }>(app.db, SESSION_KEY))?.tokens ?? null,
    save: (tokens) => writeState(app.db, SESSION_KEY, { tokens }),
  };
}

function newDeviceId(random: Random): string {
  return Array.from({ length: DEVICE_LENGTH }, () => DEVICE_CHARACTERS[random.int(0, DEVICE_CHARACTERS.length)]).join('');
}
