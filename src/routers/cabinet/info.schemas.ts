import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Cabinet Info` (spec 05 section 5.2). */

const language = z.string().min(2).max(10).default('ru');

export const InfoQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case. Where it has no text, `DEFAULT_LANGUAGE` is used.',
  ),
});
export const InfoFaqPath = z.object({
  page_id: z.int().describe('Id of the question.'),
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case. Where it has no text, `DEFAULT_LANGUAGE` is used.',
  ),
});

export const CabinetInfoFaqPageResponse = z
  .object({
    id: z.int().describe('Id of the frequent question.'),
    title: z.string().describe('The question.'),
    content: z.string().describe('The answer. Text in HTML or Markdown; of HTML only what is safe in a browser.'),
    order: z.int().describe('Place in the list; smaller numbers come first, equal ones are possible.'),
  })
  .meta({ id: 'CabinetInfoFaqPageResponse' });

const page = {
  content: z.string().describe('Text in HTML or Markdown; of HTML only what is safe in a browser.'),
  updated_at: z.string().nullish().describe('When the text was last changed (UTC); null for a built-in text.'),
};
export const RulesResponse = z.object(page).meta({ id: 'RulesResponse' });
export const PrivacyPolicyResponse = z.object(page).meta({ id: 'PrivacyPolicyResponse' });
export const PublicOfferResponse = z.object(page).meta({ id: 'PublicOfferResponse' });

export const ServiceInfoResponse = z
  .object({
    name: z.string().describe('Name of the service (`SERVICE_NAME`).'),
    description: z.string().nullish().describe('Description of the service (`SERVICE_DESCRIPTION`); null for none.'),
    support_email: z.string().nullish().describe('E-mail address of support (`SUPPORT_EMAIL`); null for none.'),
    support_messenger: z.string().nullish().describe('Name of support in the messenger (`SUPPORT_USERNAME`); null for none.'),
    website: z.string().nullish().describe('Address of the web site (`WEBSITE_URL`); null for none.'),
  })
  .meta({ id: 'ServiceInfoResponse' });

export const SupportConfigResponse = z
  .object({
    tickets_enabled: z.boolean().describe('Whether users can open tickets.'),
    support_type: z.string().describe('`tickets`, `profile` (a contact in the messenger) or `both`.'),
    support_url: z.string().nullish().describe('Always null.'),
    support_username: z
      .string()
      .nullish()
      .describe('Name of support in the messenger (`SUPPORT_USERNAME`), in every mode; null for none.'),
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
