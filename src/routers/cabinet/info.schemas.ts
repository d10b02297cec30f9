import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Cabinet Info` (spec 05 section 5.2). */

const language = z.string().min(2).max(10).default('ru');

export const InfoQuery = z.object({ language });
export const InfoFaqPath = z.object({ page_id: z.int(), language });

export const CabinetInfoFaqPageResponse = z
  .object({ id: z.int(), title: z.string(), content: z.string(), order: z.int() })
  .meta({ id: 'CabinetInfoFaqPageResponse' });

const page = { content: z.string(), updated_at: z.string().nullish() };
export const RulesResponse = z.object(page).meta({ id: 'RulesResponse' });
export const PrivacyPolicyResponse = z.object(page).meta({ id: 'PrivacyPolicyResponse' });
export const PublicOfferResponse = z.object(page).meta({ id: 'PublicOfferResponse' });

export const ServiceInfoResponse = z
  .object({
    name: z.string(),
    description: z.string().nullish(),
    support_email: z.string().nullish(),
    support_messenger: z.string().nullish(),
    website: z.string().nullish(),
  })
  .meta({ id: 'ServiceInfoResponse' });

export const SupportConfigResponse = z
  .object({
    tickets_enabled: z.boolean(),
    support_type: z.string(),
    support_url: z.string().nullish(),
    support_username: z.string().nullish(),
  })
  .meta({ id: 'SupportConfigResponse' });

export const LanguagesResponse = publishedAsFreeForm(
  z.object({
    languages: z.object({ code: z.string(), name: z.string(), flag: z.string() }).array(),
    default: z.string(),
  }),
);

export const UserLanguageResponse = publishedAsFreeForm(z.object({ language: z.string() }));

/** The whole body; `language` is the only key that means something. */
export const UserLanguageRequest = z.object({
  body: z.record(z.string(), z.string()).meta({ example: { language: 'en' } }),
});
