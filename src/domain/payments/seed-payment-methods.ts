import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { METHODS, type MethodDefaults, SANDBOX_METHOD } from './method-defaults.ts';
import { insertMethod } from './method-repo.ts';
import { isMethodConfigured, providerOf } from './method-settings.ts';

/**
 * Makes sure that every method has its configuration row; call it at start, as often as you like (spec 03 section 5.1). A new row is
 * enabled when its provider is configured at that moment; later changes are an administrator's. The sandbox's method exists only
 * where there is a sandbox, and stands first.
 */
export async function seedPaymentMethods(app: App): Promise<void> {
  await inTransaction(app, async (t) => {
    for (const method of METHODS) await seed(t, method, false);
    if (providerOf(t, SANDBOX_METHOD)?.isConfigured()) await seed(t, SANDBOX_METHOD, true);
  });
}

async function seed(t: App, method: MethodDefaults, isFirst: boolean): Promise<void> {
  const subOptions =
    method.options.length > 0 ? Object.fromEntries(method.options.map((option) => [option, true as const])) : null;
  await insertMethod(t.db, { methodId: method.id, isEnabled: isMethodConfigured(t, method), subOptions, isFirst }, t.clock.now());
}
