import type { App } from '../../core/app.ts';
import { mailPasswordReset } from './email/reset-password.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Mails a reset link to this address (lower case) if it belongs to an account. */
    'identity.password-reset': { email: string };
  }
}

/** Handler of `identity.password-reset`. */
export async function handlePasswordReset(app: App, { email }: { email: string }): Promise<void> {
  await mailPasswordReset(app, email);
}
