/** Pages, texts of the chat's menu, and what the cabinet shows of them (spec 05 sections 5 and 6). */
export const PAGES: Readonly<Record<string, string>> = {
  'GET /pages/public-offer':
    'Returns the stored public offer of a language, as it was written. With `fallback` the one of `DEFAULT_LANGUAGE` where the language has none.',
  'PUT /pages/public-offer':
    'Writes the public offer of one language. It is shown on every instance within a second. Repeating the call changes nothing but `updated_at`.',
  'GET /pages/privacy-policy':
    'Returns the stored privacy policy of a language, as it was written. With `fallback` the one of `DEFAULT_LANGUAGE` where the language has none.',
  'PUT /pages/privacy-policy':
    'Writes the privacy policy of one language. It is shown on every instance within a second. Repeating the call changes nothing but `updated_at`.',
  'GET /pages/faq':
    'Lists the questions of a language in their order, all at once. Where the language has none, with `fallback` those of `DEFAULT_LANGUAGE`. Without `include_inactive` the list is what users see: active questions, and none while they are switched off.',
  'POST /pages/faq': 'Adds a question. The first question of a language switches the questions of that language on.',
  'GET /pages/faq/status': 'Returns whether the questions of a language are shown; false where nothing is stored.',
  'PUT /pages/faq/status':
    'Shows or hides the questions of a language. A body takes precedence over the query, with its own `language`. Repeating the call changes nothing.',
  'GET /pages/faq/{page_id}': 'Returns a question if it is of this language or of `DEFAULT_LANGUAGE`.',
  'PUT /pages/faq/{page_id}': 'Changes the given fields of a question. The language stays as it is.',
  'DELETE /pages/faq/{page_id}': 'Deletes a question. The numbers of the others stay as they are.',
  'POST /pages/faq/reorder':
    'Numbers the questions of a language from 1: the named ones in the order of their `display_order`, then the others as they were. Returns all questions of the language. Repeating the call changes nothing.',
  'GET /pages/service-rules':
    'Returns the version of the rules that is in force. With `fallback` the one of `DEFAULT_LANGUAGE` where the language has none.',
  'PUT /pages/service-rules': 'Puts a new version of the rules in force. The version before it stays in the history.',
  'DELETE /pages/service-rules':
    'Puts the rules of a language out of force. The versions stay in the history and can be restored. Repeating the call changes nothing.',
  'GET /pages/service-rules/history': 'Lists the versions of the rules of a language, newest first, with the one in force.',
  'POST /pages/service-rules/history/{rule_id}/restore':
    'Adds a copy of an earlier version and puts it in force. The version must be of this language.',

  'GET /main-menu/buttons': 'Lists the links of the main menu in the order in which they are shown, inactive ones too.',
  'POST /main-menu/buttons':
    'Adds a link to the main menu of the chat. It is shown only in the default menu, not in a menu layout or the menu of the cabinet.',
  'PATCH /main-menu/buttons/{button_id}':
    'Changes the given fields of a link. Kind and address are checked together, also when only one of them is sent.',
  'DELETE /main-menu/buttons/{button_id}': 'Deletes a link.',
  'GET /main-menu/messages': 'Lists the messages that the main menu of the chat may show, newest first.',
  'POST /main-menu/messages':
    'Adds a message. The main menu shows one of the active messages, drawn anew each time. What the messenger would refuse is refused here.',
  'PATCH /main-menu/messages/{message_id}':
    'Changes the given fields of a message. What the messenger would refuse is refused here.',
  'DELETE /main-menu/messages/{message_id}': 'Deletes a message.',
  'POST /main-menu/messages/{message_id}/toggle': 'Switches a message on or off: each call changes it.',

  'GET /welcome-texts': 'Lists the welcome texts, last changed first.',
  'POST /welcome-texts':
    'Adds a welcome text. An active one takes the place of the active text before it. What the messenger would refuse is refused here.',
  'GET /welcome-texts/{welcome_text_id}': 'Returns a welcome text.',
  'PATCH /welcome-texts/{welcome_text_id}':
    'Changes the given fields of a welcome text. Activating it deactivates the one before it; deactivating it may leave none.',
  'DELETE /welcome-texts/{welcome_text_id}': 'Deletes a welcome text. After the active one is deleted, there is none.',

  'GET /cabinet/info/faq':
    'Lists the active questions in their order. Where the language has none, those of `DEFAULT_LANGUAGE`; none while they are switched off. Contents are safe to show in a browser.',
  'GET /cabinet/info/faq/{page_id}': 'Returns an active question of this language or of `DEFAULT_LANGUAGE`.',
  'GET /cabinet/info/rules':
    'Returns the rules in force: of the language, else of `DEFAULT_LANGUAGE`, else built-in ones in this language. The content is safe to show in a browser.',
  'GET /cabinet/info/privacy-policy':
    'Returns the privacy policy of the language, where it is missing or blank that of `DEFAULT_LANGUAGE`. Where none is shown, a short placeholder. The content is safe to show in a browser.',
  'GET /cabinet/info/public-offer':
    'Returns the public offer of the language, where it is missing or blank that of `DEFAULT_LANGUAGE`. Where none is shown, a short placeholder. The content is safe to show in a browser.',
  'GET /cabinet/info/service': 'Returns name, description and contacts of the service.',
  'GET /cabinet/info/languages':
    'Returns `languages`, the languages that users may choose, with `code`, `name` and `flag`, and `default`, the code of the default language.',
  'GET /cabinet/info/user/language': 'Returns the code of the own language as `language`.',
  'PATCH /cabinet/info/user/language':
    'Changes the own language to the code in `language` (absent: `ru`). The messenger, mails and invoices use it at once. Repeating the call changes nothing.',
  'GET /cabinet/info/support-config':
    'Returns how users reach support. Clients show tickets only where `tickets_enabled` is true. Follows `SUPPORT_SYSTEM_MODE` at once.',
};
