import type { CampaignValues } from '../domain/campaigns/types.ts';

/** The two forms of a campaign that the Web API and administrators send. */

type Nullish<T> = { [K in keyof T]?: T[K] | null | undefined };

/** Required fields of a campaign. */
type Required = Pick<
  CampaignValues,
  'name' | 'startParameter' | 'bonusType' | 'balanceBonusKopeks' | 'subscriptionSquads' | 'isActive'
>;

/** Absent is null. Only administrators name a partner. */
export function toNewCampaign(input: Required & Nullish<Omit<CampaignValues, keyof Required>>): CampaignValues {
  return {
    ...input,
    subscriptionDurationDays: input.subscriptionDurationDays ?? null,
    subscriptionTrafficGb: input.subscriptionTrafficGb ?? null,
    subscriptionDeviceLimit: input.subscriptionDeviceLimit ?? null,
    tariffId: input.tariffId ?? null,
    tariffDurationDays: input.tariffDurationDays ?? null,
    partnerUserId: input.partnerUserId ?? null,
  };
}

/** Absent leaves a field as it is; null does, too, except where a field can be empty (spec 04 section 6.4). */
export function toCampaignChanges(input: Nullish<CampaignValues>): Partial<CampaignValues> {
  return {
    ...(input as Partial<CampaignValues>),
    name: input.name ?? undefined,
    startParameter: input.startParameter ?? undefined,
    bonusType: input.bonusType ?? undefined,
    balanceBonusKopeks: input.balanceBonusKopeks ?? undefined,
    subscriptionSquads: input.subscriptionSquads ?? undefined,
    isActive: input.isActive ?? undefined,
  };
}
