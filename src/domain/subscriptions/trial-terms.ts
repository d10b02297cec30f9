import type { App } from '../../core/app.ts';
import { findTrialTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { type TrialTerms, trialTerms } from './rules/trial.ts';
import { subscriptionSettingsOf } from './settings.ts';

/**
 * What a trial gives now (spec 02 section 4.1), for showing it and for every way to start one. The device limit is the fixed
 * one while devices cannot be chosen (section 4.4).
 */
export async function readTrialTerms(app: App): Promise<TrialTerms & { tariff: Tariff | null }> {
  const tariff = await findTrialTariff(app);
  const terms = trialTerms(tariff, subscriptionSettingsOf(app));
  const { settings } = app;
  const forced = settings.get('DEVICES_SELECTION_ENABLED') ? 0 : (settings.get('DEVICES_SELECTION_DISABLED_AMOUNT') ?? 0);
  return { ...terms, deviceLimit: forced > 0 ? forced : terms.deviceLimit, tariff };
}
