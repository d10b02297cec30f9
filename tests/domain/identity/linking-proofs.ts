import { createHash, createHmac } from 'node:crypto';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import type { App } from '../../../src/core/app.ts';
import type { WidgetData } from '../../../src/domain/identity/ports.ts';
import { TEST_BOT_TOKEN } from '../../support/test-sandbox.ts';

/** Mini-app data of a messenger user, signed now; id 0 names nobody. */
export function signInData(app: App, id: number): string {
  return signInitData(TEST_BOT_TOKEN, { id, first_name: 'Linda', username: 'linda' }, app.clock.now());
}

/** The login widget's fields of a messenger user, signed now. */
export function signedWidget(app: App, id: number, names: { first_name?: string; last_name?: string } = {}): WidgetData {
  const data = { id, first_name: 'Wanda', username: 'wanda', auth_date: Math.floor(app.clock.now().getTime() / 1_000), ...names };
  const text = Object.entries(data)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
  const key = createHash('sha256').update(TEST_BOT_TOKEN).digest();
  return { ...data, hash: createHmac('sha256', key).update(text).digest('hex') };
}
