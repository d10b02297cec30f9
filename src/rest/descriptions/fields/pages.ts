/** Texts of fields of pages, of texts of the chat's menu and of the cabinet's information (spec 05 sections 5 and 6). */
const LANGUAGE = 'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.';
const CONTENT = 'Text in HTML or Markdown, up to 200,000 characters. It is stored as it is sent.';
const STORED = 'The text as it was written.';
const SAFE = 'Text in HTML or Markdown; of HTML only what is safe in a browser.';
const PARTS = 'The content in parts of at most 3500 characters, for messages of the chat; empty for a blank content.';
const MESSENGER_TEXT =
  "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags.";
const BUILT_IN_DATE = 'When the text was last changed (UTC); null for a built-in text.';

export const PAGE_FIELDS: Readonly<Record<string, string>> = {
  'RichTextPageUpdateRequest.language': LANGUAGE,
  'RichTextPageUpdateRequest.content': CONTENT,
  'RichTextPageUpdateRequest.is_enabled':
    'Whether users are shown the document; null leaves it unchanged, and a new one is shown.',
  'RichTextPageResponse.requested_language': 'Language of the request, normalised.',
  'RichTextPageResponse.language': 'Language of the document.',
  'RichTextPageResponse.is_enabled': 'Whether users are shown the document.',
  'RichTextPageResponse.content': STORED,
  content_pages: PARTS,
  'RichTextPageResponse.content_pages': `${PARTS} Tags that are open where a part ends are closed there and opened again in the next one.`,

  'FaqPageCreateRequest.language': LANGUAGE,
  'FaqPageCreateRequest.title': 'The question.',
  'FaqPageCreateRequest.content': `The answer. ${CONTENT}`,
  'FaqPageCreateRequest.display_order': 'Place in the list; null for after the last one. Equal numbers are allowed.',
  'FaqPageCreateRequest.is_active': 'Whether users are shown the question; null means true.',
  'PUT /pages/faq/{page_id}.title': 'The question; null leaves it unchanged.',
  'PUT /pages/faq/{page_id}.content': `The answer; null leaves it unchanged. ${CONTENT}`,
  'PUT /pages/faq/{page_id}.display_order': 'Place in the list; null leaves it unchanged. No other question is moved.',
  'PUT /pages/faq/{page_id}.is_active': 'Whether users are shown the question; null leaves it unchanged.',
  'FaqPageResponse.language': 'Language of the question.',
  'FaqPageResponse.title': 'The question.',
  'FaqPageResponse.content': 'The answer as it was written.',
  'FaqPageResponse.display_order': 'Place in the list; of equal numbers the lower id comes first.',
  'FaqPageListResponse.requested_language': 'Language of the request, normalised.',
  'FaqPageListResponse.language': 'Language whose stored switch counts; without a switch the language of the first question.',
  'FaqPageListResponse.is_enabled': 'Whether the questions of that language are switched on; false where nothing is stored.',
  'FaqPageListResponse.total': 'Number of questions in the answer.',
  'FaqPageListResponse.items': 'The questions in their order.',
  'FaqStatusUpdateRequest.language': LANGUAGE,
  'FaqStatusUpdateRequest.is_enabled': 'Whether users are shown the questions of the language.',
  'FaqStatusResponse.requested_language': 'Language of the request, normalised.',
  'FaqStatusResponse.language': 'Language whose stored switch counts.',
  'FaqStatusResponse.is_enabled': 'Whether users are shown the questions; false where nothing is stored.',
  'FaqReorderRequest.language': LANGUAGE,
  'FaqReorderRequest.items': 'Questions with their new places, each at most once; an empty list only renumbers.',
  'FaqReorderItem.id': 'Id of a question of this language.',
  'FaqReorderItem.display_order': 'Place among the named questions; the stored numbers begin at 1.',

  'ServiceRulesUpdateRequest.language': LANGUAGE,
  'ServiceRulesUpdateRequest.title': 'Title; null, or the default, for the title in the language of the rules.',
  'ServiceRulesUpdateRequest.content': CONTENT,
  'ServiceRulesResponse.language': 'Language of the rules.',
  'ServiceRulesResponse.content': STORED,
  'ServiceRulesResponse.is_active': 'Whether this version is in force.',
  'ServiceRulesHistoryResponse.language': 'Language of the request, normalised.',
  'ServiceRulesHistoryResponse.total': 'Number of versions in the answer.',
  'ServiceRulesHistoryResponse.items': 'The versions, newest first.',

  'MainMenuButtonCreateRequest.text': 'Text of the button. Trimmed.',
  'PATCH /main-menu/buttons/{button_id}.text': 'Text of the button, trimmed; null leaves it unchanged.',
  'MainMenuButtonResponse.text': 'Text of the button.',
  action_type: 'How the address is opened: `url` in a browser, `mini_app` inside the messenger.',
  'PATCH /main-menu/buttons/{button_id}.action_type':
    'How the address is opened: `url` in a browser, `mini_app` inside the messenger; null leaves it unchanged.',
  action_value: 'Address that the button opens: http or https, for a mini app https only. Trimmed.',
  'PATCH /main-menu/buttons/{button_id}.action_value':
    'Address that the button opens: http or https, for a mini app https only; null leaves it unchanged.',
  'MainMenuButtonCreateRequest.visibility': 'Who sees the button: `all`, `admins`, or `subscribers` with access at the moment.',
  'MainMenuButtonResponse.visibility': 'Who sees the button: `all`, `admins`, or `subscribers` with access at the moment.',
  'PATCH /main-menu/buttons/{button_id}.visibility':
    'Who sees the button: `all`, `admins`, or `subscribers` with access at the moment; null leaves it unchanged.',
  'MainMenuButtonCreateRequest.display_order': 'Place in the menu; null for after the last one. Equal numbers are allowed.',
  'PATCH /main-menu/buttons/{button_id}.display_order': 'Place in the menu; null leaves it unchanged.',
  'MainMenuButtonListResponse.total': 'Number of all buttons, inactive ones too.',
  'UserMessageCreateRequest.message_text': `${MESSENGER_TEXT} Trimmed.`,
  'PATCH /main-menu/messages/{message_id}.message_text': `${MESSENGER_TEXT} Null leaves it unchanged.`,
  'UserMessageResponse.message_text': 'Text of the message as it was written.',
  'UserMessageCreateRequest.sort_order': 'A number of your own; it orders nothing.',
  'PATCH /main-menu/messages/{message_id}.sort_order': 'A number of your own; it orders nothing. Null leaves it unchanged.',
  'UserMessageResponse.sort_order': 'A number of your own; it orders nothing.',
  'UserMessageResponse.created_by': 'Id of the user who wrote the message; null for one that came with an API token.',

  'WelcomeTextCreateRequest.text': `${MESSENGER_TEXT} Placeholders: \`{user_name}\`, \`{first_name}\`, \`{username}\`, \`{username_clean}\`, each counted as 64 characters. Trimmed.`,
  'PATCH /welcome-texts/{welcome_text_id}.text': `${MESSENGER_TEXT} Placeholders: \`{user_name}\`, \`{first_name}\`, \`{username}\`, \`{username_clean}\`, each counted as 64 characters. Null leaves it unchanged.`,
  'WelcomeTextResponse.text': 'The text as it was written, with its placeholders.',
  'WelcomeTextCreateRequest.is_active': 'Whether it becomes the active text; then the one before it is deactivated.',
  'PATCH /welcome-texts/{welcome_text_id}.is_active':
    'True makes it the active text, false deactivates it; null leaves it unchanged.',
  'WelcomeTextResponse.is_active': 'Whether it is the active text; at most one is.',
  'WelcomeTextCreateRequest.is_enabled': 'Whether the text is sent while it is the active one.',
  'WelcomeTextResponse.is_enabled': 'Whether the text is sent while it is the active one.',
  'WelcomeTextResponse.created_by': 'Id of the user who wrote the text; null for one that came with an API token.',

  'CabinetInfoFaqPageResponse.title': 'The question.',
  'CabinetInfoFaqPageResponse.content': `The answer. ${SAFE}`,
  'CabinetInfoFaqPageResponse.order': 'Place in the list; smaller numbers come first, equal ones are possible.',
  'RulesResponse.content': SAFE,
  'RulesResponse.updated_at': BUILT_IN_DATE,
  'PrivacyPolicyResponse.content': SAFE,
  'PrivacyPolicyResponse.updated_at': BUILT_IN_DATE,
  'PublicOfferResponse.content': SAFE,
  'PublicOfferResponse.updated_at': BUILT_IN_DATE,
  'ServiceInfoResponse.name': 'Name of the service (`SERVICE_NAME`).',
  'ServiceInfoResponse.description': 'Description of the service (`SERVICE_DESCRIPTION`); null for none.',
  support_email: 'E-mail address of support (`SUPPORT_EMAIL`); null for none.',
  support_messenger: 'Name of support in the messenger (`SUPPORT_USERNAME`); null for none.',
  website: 'Address of the web site (`WEBSITE_URL`); null for none.',
  tickets_enabled: 'Whether users can open tickets.',
  support_type: '`tickets`, `profile` (a contact in the messenger) or `both`.',
  support_url: 'Always null.',
  support_username: 'Name of support in the messenger (`SUPPORT_USERNAME`), in every mode; null for none.',
};
