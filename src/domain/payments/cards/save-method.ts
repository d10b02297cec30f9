import type { App } from '../../../core/app.ts';
import type { ProviderSavedMethod } from '../ports.ts';
import { insertSavedMethod } from './repo.ts';

/**
 * Keeps a method that the provider has saved for further charges (spec 03 section 5.2). One that is known stays as it is, also when its owner
 * unlinked it: a late notification must not link it again.
 */
export async function saveMethod(app: App, userId: number, provider: string, method: ProviderSavedMethod): Promise<void> {
  const { providerMethodId, methodType, card } = method;
  const title = card ? `${card.type ?? methodType} *${card.last4}` : method.title;
  await insertSavedMethod(app.db, {
    ...{ userId, provider, providerMethodId, methodType, title, now: app.clock.now() },
    card: card && {
      ...card,
      expiryMonth: card.expiryMonth?.slice(0, 2) ?? null,
      expiryYear: card.expiryYear?.slice(0, 4) ?? null,
    },
  });
}
