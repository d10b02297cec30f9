import type { Ports } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** How long before the end of a credential doctor warns (03a section 9). */
const WARN_DAYS = 14;

/** The credentials of payment providers that end at a known time: afterwards the provider refuses every call. */
export function checkCredentials({ payments }: Pick<Ports, 'payments'>, now: Date): Finding[] {
  return payments.all().flatMap((provider) => {
    const expiresAt = provider.isConfigured() ? (provider.credentialsExpireAt?.() ?? null) : null;
    return expiresAt === null ? [] : [findingOf(provider.method, expiresAt, now)];
  });
}

function findingOf(method: string, expiresAt: Date, now: Date): Finding {
  const check = `token of ${method}`;
  const until = expiresAt.toISOString();
  const next = 'Issue a new token in the account at the provider and set it; payments cannot be started after that time.';
  if (expiresAt <= now) return problem(check, `ended at ${until}`, next);
  return expiresAt <= addDays(now, WARN_DAYS) ? warning(check, `ends at ${until}`, next) : ok(check, `valid until ${until}`);
}
