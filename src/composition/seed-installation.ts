import { mkdir } from 'node:fs/promises';
import type { App } from '../core/app.ts';
import { ensureDefaultToken, ensureFirstToken } from '../domain/access/manage-tokens.ts';
import { seedRoles } from '../domain/access/seed-roles.ts';
import { ensureDefaultTariff } from '../domain/catalog/ensure-default-tariff.ts';
import { syncServersOnce } from '../domain/catalog/sync-servers.ts';
import { seedPaymentMethods } from '../domain/payments/seed-payment-methods.ts';
import { nameFirstOfferTemplates } from '../domain/promo/offers/templates.ts';
import { nameFirstPromoGroup } from '../domain/promo-groups/save-promo-group.ts';
import { saveTokenFile } from './announce.ts';

/**
 * Rows that every installation has (spec 06 section 15, start order). Safe to run on every start and on several instances.
 * @returns the text of the first API token, when this start made it
 */
export async function seedInstallation(app: App): Promise<string | null> {
  await ensureDefaultToken(app);
  const firstToken = app.env.isProduction ? null : await ensureFirstToken(app);
  if (firstToken !== null && app.ports.instance.sandboxKinds().length > 0) {
    await mkdir(app.env.dataDir, { recursive: true });
    await saveTokenFile(app.env.dataDir, firstToken);
  }
  // A failure here must not prevent the start (spec 01 section 12).
  // Any failure: see above.
  await seedRoles(app).catch((error: unknown) => app.log.error({ err: error }, 'roles could not be seeded'));
  await nameFirstPromoGroup(app);
  await nameFirstOfferTemplates(app);
  await seedPaymentMethods(app);
  return firstToken;
}

/** What needs outside systems: runs in the background after requests are served. @returns when all of it has ended; never rejects */
export async function seedLate(app: App): Promise<void> {
  await Promise.all([
    // Any failure: there is no caller; the port asks again when it needs the name.
    askBotName(app).catch((error: unknown) =>
      app.log.warn(
        { err: error },
        'the messenger did not give the name of the bot; set BOT_USERNAME, because links to the bot need it',
      ),
    ),
    // Any failure: there is no caller; the next start repeats it.
    fillShop(app).catch((error: unknown) => app.log.warn({ err: error }, 'the shop could not be filled from the panel at start')),
  ]);
}

/** The port remembers the answer (spec 05 section 14). */
async function askBotName(app: App): Promise<void> {
  if (app.ports.messengerIdentity.botUsername() !== null || !app.settings.get('BOT_TOKEN')) return;
  await app.ports.messenger.getMe();
}

async function fillShop(app: App): Promise<void> {
  await syncServersOnce(app);
  await ensureDefaultTariff(app);
}
