import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { putSettings } from '../../settings/change-setting.ts';
import type { SettingKey, SettingValue } from '../../settings/types.ts';

/** The settings of the partner page (spec 04 section 14); amount in kopeks. */
export interface PartnerSettings {
  withdrawalEnabled: boolean;
  withdrawalMinAmountKopeks: number;
  withdrawalCooldownDays: number;
  withdrawalRequisitesText: string;
  partnerSectionVisible: boolean;
  referralProgramEnabled: boolean;
}

const KEYS = {
  withdrawalEnabled: 'REFERRAL_WITHDRAWAL_ENABLED',
  withdrawalMinAmountKopeks: 'REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS',
  withdrawalCooldownDays: 'REFERRAL_WITHDRAWAL_COOLDOWN_DAYS',
  withdrawalRequisitesText: 'REFERRAL_WITHDRAWAL_REQUISITES_TEXT',
  partnerSectionVisible: 'REFERRAL_PARTNER_SECTION_VISIBLE',
  referralProgramEnabled: 'REFERRAL_PROGRAM_ENABLED',
} as const satisfies Record<keyof PartnerSettings, SettingKey>;

/** The values in effect. */
export function readPartnerSettings({ settings }: App): PartnerSettings {
  return {
    withdrawalEnabled: settings.get(KEYS.withdrawalEnabled),
    withdrawalMinAmountKopeks: settings.get(KEYS.withdrawalMinAmountKopeks),
    withdrawalCooldownDays: settings.get(KEYS.withdrawalCooldownDays),
    withdrawalRequisitesText: settings.get(KEYS.withdrawalRequisitesText),
    partnerSectionVisible: settings.get(KEYS.partnerSectionVisible),
    referralProgramEnabled: settings.get(KEYS.referralProgramEnabled),
  };
}

/**
 * Stores the given settings as overrides, all or none; every instance is notified (spec 04 section 3.3).
 * @param changes null or absent leaves a setting as it is
 * @returns the values in effect: one that the environment gives stays
 * @throws AppError 400 a value that the setting does not take
 */
export async function changePartnerSettings(
  app: App,
  actor: AdminActor,
  changes: { [K in keyof PartnerSettings]?: PartnerSettings[K] | null | undefined },
): Promise<PartnerSettings> {
  const before = readPartnerSettings(app);
  const values = (Object.keys(KEYS) as (keyof PartnerSettings)[])
    .filter((name) => changes[name] != null)
    .map((name): [SettingKey, SettingValue] => [KEYS[name], changes[name] ?? null]);
  await putSettings(app, { kind: actor.kind }, values);
  const after = readPartnerSettings(app);
  app.audit?.record({ before, after });
  return after;
}
