import * as OTPAuth from 'otpauth';
import type { TestClock } from './test-app.ts';

/** The code that an authenticator app with this secret shows. @param stepsFromNow of 30 seconds */
export function codeOf(secret: string, clock: Pick<TestClock, 'now'>, stepsFromNow = 0): string {
  const timestamp = clock.now().getTime() + stepsFromNow * 30_000;
  return new OTPAuth.TOTP({ secret: OTPAuth.Secret.fromBase32(secret) }).generate({ timestamp });
}
