import { translatedRefusal } from '../../messaging/translated-refusal.ts';

/** Refusals in the language of the user or, to an administrator, of the installation (spec 04 section 3.3, "RU"). */
export const alreadyPartner = translatedRefusal('already_partner', 400, 'partners.already_partner');
export const alreadyPending = translatedRefusal('already_pending', 400, 'partners.already_pending');
export const userMissing = translatedRefusal('user_missing', 400, 'partners.user_missing');
/** Where the user is the subject of the request. */
export const partnerUserMissing = translatedRefusal('user_missing', 404, 'partners.user_missing');
export const applicationNotFound = translatedRefusal('application_not_found', 400, 'partners.application_not_found');
export const applicationProcessed = translatedRefusal('application_processed', 400, 'partners.application_processed');
export const notPartner = translatedRefusal('not_partner', 400, 'partners.not_partner');
export const partnerCampaignNotFound = translatedRefusal('campaign_not_found', 404, 'partners.campaign_not_found');
export const campaignTaken = translatedRefusal('campaign_taken', 400, 'partners.campaign_taken');
export const campaignNotAssigned = translatedRefusal('campaign_not_assigned', 400, 'partners.campaign_not_assigned');
