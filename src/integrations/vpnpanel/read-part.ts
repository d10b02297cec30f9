import type { z } from 'zod';
import { PanelError } from '../../domain/provisioning/ports.ts';

/** Reads a part of the panel's answer. @throws PanelError `unavailable` when it does not have the form of the schema */
export function readPart<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new PanelError('unavailable', 'VPN panel sent an answer that cannot be read', { cause: result.error });
}
