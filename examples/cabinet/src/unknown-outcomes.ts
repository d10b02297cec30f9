/**
 * Calls that were sent and not answered, by name of the operation. A repeat sends the same input with the same key, so that the service carries
 * it out once. They are stored until the answer, so that also who reloads the page or loses it in the middle of a call can repeat it; for this
 * tab and until the sign-out.
 */

interface UnknownOutcome {
  input: unknown;
  idempotencyKey: string;
  /** Of the view that sent it. */
  address: string;
}

const STORAGE_KEY = 'cabinet.unknown-outcomes';

const read = () => JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}') as Record<string, UnknownOutcome>;

export function unknownOutcome(name: string): UnknownOutcome | null {
  return read()[name] ?? null;
}

export function rememberOutcome(name: string, outcome: Omit<UnknownOutcome, 'address'>): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ ...read(), [name]: { ...outcome, address: location.hash } }));
}

export function forgetOutcome(name: string): void {
  const { [name]: _known, ...others } = read();
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(others));
}

/** The next user of this tab must not repeat what this one has sent. */
export function forgetOutcomes(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}

/** Where the oldest call without an answer was sent; null when there is none. */
export function addressOfUnknown(): string | null {
  return Object.values(read())[0]?.address ?? null;
}
