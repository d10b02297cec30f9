/** An income as the fake tax service stores it. */
export interface SandboxIncome {
  uuid: string;
  name: string;
  /** As text with two decimals. */
  totalAmount: string;
  /** As sent: ISO 8601 with the offset of Moscow. */
  operationTime: string;
  cancellation: { comment: string; at: string } | null;
}

const MOSCOW_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+03:00$/;

/** The device of a sign-in; null where the body names none. */
export function readSignIn(body: Record<string, unknown>): string | null {
  const info = body.deviceInfo as { sourceDeviceId?: unknown; sourceType?: unknown } | undefined;
  const id = info?.sourceDeviceId;
  return info?.sourceType === 'WEB' && typeof id === 'string' && id.length === 21 ? id : null;
}

/** The body of an income, validated as far as the real service is known to do. */
export function readIncome(
  body: Record<string, unknown>,
  now: Date,
): Omit<SandboxIncome, 'uuid' | 'cancellation'> | { problem: string } {
  const { operationTime, requestTime, totalAmount, services } = body;
  for (const time of [operationTime, requestTime])
    if (typeof time !== 'string' || !MOSCOW_TIME.test(time)) return { problem: 'time' };
  // A minute for clocks that differ.
  if (new Date(operationTime as string).getTime() > now.getTime() + 60_000) return { problem: 'operationTime' };
  if (typeof totalAmount !== 'string' || !/^\d{1,9}\.\d{2}$/.test(totalAmount)) return { problem: 'totalAmount' };
  const [service, ...others] = Array.isArray(services) ? (services as Record<string, unknown>[]) : [];
  if (!service || others.length > 0 || service.quantity !== 1 || service.amount !== Number(totalAmount))
    return { problem: 'services' };
  const { name } = service;
  if (typeof name !== 'string' || name.trim() === '' || name.length > 256) return { problem: 'name' };
  return { name, totalAmount, operationTime: operationTime as string };
}

export function wireIncome({ uuid, name, totalAmount, operationTime, cancellation }: SandboxIncome) {
  return {
    approvedReceiptUuid: uuid,
    name,
    services: [{ name, quantity: 1, amount: Number(totalAmount) }],
    totalAmount: Number(totalAmount),
    operationTime,
    cancellationInfo: cancellation && { comment: cancellation.comment, operationTime: cancellation.at },
  };
}
