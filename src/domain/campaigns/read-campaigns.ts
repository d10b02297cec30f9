import type { App } from '../../core/app.ts';
import { campaignNotFound } from './errors.ts';
import {
  type AvailablePartner,
  listApprovedPartners,
  listRegistrationPage,
  type RegistrationItem,
} from './registrations-repo.ts';
import { type CampaignFilter, type CampaignTotals, findCard, findTotals, listCards } from './repo.ts';
import type { CampaignCard } from './types.ts';

export type { RegistrationItem } from './registrations-repo.ts';

/** One page of campaigns, newest first, each with its counters (spec 04 sections 6.4 and 6.5). */
export function listCampaigns(app: App, filter: CampaignFilter): Promise<{ items: CampaignCard[]; total: number }> {
  return listCards(app.db, filter);
}

/** @throws AppError 404 'Campaign not found' */
export async function readCampaign(app: App, campaignId: number): Promise<CampaignCard> {
  const card = await findCard(app.db, campaignId);
  if (!card) throw campaignNotFound();
  return card;
}

/** Numbers over all campaigns; money in kopeks. */
export function campaignTotals(app: App): Promise<CampaignTotals> {
  return findTotals(app.db);
}

/** Approved partners by name, for the form of a campaign. */
export function listAvailablePartners(app: App): Promise<AvailablePartner[]> {
  return listApprovedPartners(app.db);
}

/** Registrations of a campaign, newest first. @param page from 1 @throws AppError 404 'Campaign not found' */
export async function listRegistrations(
  app: App,
  campaignId: number,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ registrations: RegistrationItem[]; total: number; page: number; perPage: number }> {
  const { id, registrations: total } = await readCampaign(app, campaignId);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const registrations = await listRegistrationPage(app.db, id, { limit: perPage, offset });
  return { registrations, total, page, perPage };
}
