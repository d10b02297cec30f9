import type { App } from '../../core/app.ts';
import { type CampaignFilter, type CampaignTotals, findCard, listCards, readTotals } from './card-repo.ts';
import { campaignNotFound } from './errors.ts';
import {
  type AvailablePartner,
  listApprovedPartners,
  listRegistrationPage,
  type RegistrationItem,
} from './registrations-repo.ts';
import type { CampaignCard } from './types.ts';

export type { RegistrationItem } from './registrations-repo.ts';

/** One page of campaigns, newest first, each with its figures (spec 04 sections 6.4 and 6.5). */
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
  return readTotals(app.db);
}

/** Approved partners by name, for the form of a campaign. */
export function listAvailablePartners(app: App): Promise<AvailablePartner[]> {
  return listApprovedPartners(app.db);
}

/** Who came through a campaign, newest first. @param page from 1 @throws AppError 404 'Campaign not found' */
export async function listRegistrations(
  app: App,
  campaignId: number,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ items: RegistrationItem[]; total: number }> {
  const { campaign, figures } = await readCampaign(app, campaignId);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const items = await listRegistrationPage(app.db, campaign.id, { limit: perPage, offset });
  return { items, total: figures.registrations };
}
