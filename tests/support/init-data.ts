import { signInitData } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import type { BuiltUser } from './builders.ts';
import type { TestApp } from './test-app.ts';
import { TEST_BOT_TOKEN } from './test-sandbox.ts';

/** The launch data that the messenger gives to the mini-app of this user. @param ageSeconds since the messenger signed it */
export function initDataOf(t: Pick<TestApp, 'clock'>, user: Pick<BuiltUser, 'messengerId'>, ageSeconds = 0): string {
  const signedAt = new Date(t.clock.now().getTime() - ageSeconds * 1_000);
  return signInitData(TEST_BOT_TOKEN, { id: user.messengerId, first_name: 'Ann' }, signedAt);
}
