import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { METHODS, type MethodDefaults, SANDBOX_METHOD } from './method-defaults.ts';
import { insertMethod } from './method-repo.ts';
import { isMethodConfigured, providerOf } from './method-settings.ts';

/**
 * Makes sure that every method has its configuration row; called at each start (spec 03 section 5.1). A new row is enabled if its
 * provider is configured at that moment; later changes are made by administrators. The sandbox's method exists only where the sandbox
 * is on, and is the first.
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
