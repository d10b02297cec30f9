/** Apart from the operations themselves, which the help of the command must not load. */
export const KILL_OPERATIONS = [
  'purchase',
  'extension',
  'topup',
  'topup-that-buys',
  'refund-with-key',
  'refund-without-key',
  'broadcast',
] as const;

export type KillOperation = (typeof KILL_OPERATIONS)[number];
