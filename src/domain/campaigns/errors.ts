import type { Actor } from '../../core/actor.ts';
import { type AppError, refusal } from '../../core/errors.ts';

export const campaignExists = refusal('campaign_exists', 400, 'Campaign with this start_parameter already exists');
export const campaignInUseRefusal = refusal(
  'campaign_in_use',
  400,
  'Cannot delete campaign with <n> registrations. Deactivate it instead.',
);

export const campaignNotFound = refusal('campaign_not_found', 404, 'Campaign not found');
export const bonusTariffMissing = refusal('campaign_tariff_required', 400, 'Tariff ID is required for tariff bonus type');
export const bonusTariffUnknown = refusal('tariff_not_found', 400, 'Tariff not found');
export const partnerUnknown = refusal('partner_not_found', 400, 'Partner not found or not approved');

/** The Web API and the cabinet have different texts (spec 04 sections 6.4 and 6.5). */
export function slugTaken(actor: Actor, startParameter: string): AppError {
  const text =
    actor.kind === 'admin'
      ? `Campaign with start parameter '${startParameter}' already exists`
      : 'Campaign with this start_parameter already exists';
  return campaignExists({ detail: text });
}

export function campaignInUse(registrations: number): AppError {
  const text = `Cannot delete campaign with ${registrations} registrations. Deactivate it instead.`;
  return campaignInUseRefusal({ detail: text });
}
