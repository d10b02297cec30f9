/** Administration: fortune wheel, tickets, settings, menu, sales pages. */
export const ADMIN_OPERATIONS: Readonly<Record<string, string>> = {
  'GET /cabinet/admin/broadcasts/filters':
    'Lists the segments of the messenger with the number of users who would get a message. The numbers are up to 30 seconds old.',
  'GET /cabinet/admin/broadcasts/tariffs': 'Lists active tariffs as segments. The numbers are up to 30 seconds old.',
  'GET /cabinet/admin/broadcasts/buttons': 'Lists the standard buttons under a message, with their labels.',
  'POST /cabinet/admin/broadcasts/preview':
    'Returns how many users would get a message to a segment now, and the first of them. Nothing is sent or stored.',
  'GET /cabinet/admin/broadcasts': 'Lists broadcasts of all channels with their progress, newest first.',
  'POST /cabinet/admin/broadcasts':
    'Sends a message through the messenger to all members of a segment who have not switched off news. Rows of recipients are written and messages are sent in the background, at the pace of `MESSENGER_SENDS_PER_SECOND`; each recipient gets the message once. Administrators receive `broadcast.progress` on `/cabinet/ws`. With a caption of the file the text is not sent.',
  'GET /cabinet/admin/broadcasts/email-filters':
    'Lists the segments of the mail with the number of users who would get one. The numbers are up to 30 seconds old.',
  'POST /cabinet/admin/broadcasts/email-preview':
    'Returns how many users would get a mail to a segment now, and the first of them. Nothing is sent or stored.',
  'POST /cabinet/admin/broadcasts/send':
    'Sends a message through the messenger, a mail, or both; with both, the mail goes to everyone with a verified address. Mails are sent at the pace of `BROADCAST_MAILS_PER_SECOND`, and `{{user_name}}` and `{{email}}` in subject and content are filled. Files and buttons belong to the message.',
  'GET /cabinet/admin/broadcasts/{broadcast_id}': 'Returns a broadcast with its progress.',
  'POST /cabinet/admin/broadcasts/{broadcast_id}/stop':
    'Ends a broadcast on all its channels. Messages under way are still sent, none after them; the state is `cancelling` until then. Repeating the call before the end changes nothing.',
  'POST /cabinet/admin/broadcasts/{broadcast_id}/pause':
    'Holds a broadcast on all its channels until it is resumed or stopped. Messages under way are still sent.',
  'POST /cabinet/admin/broadcasts/{broadcast_id}/resume':
    'Continues a paused broadcast. With `retry_unconfirmed` it is also sent again to recipients of whom it is unknown whether they got it, of a running or an ended broadcast too; they may get it twice.',
  'GET /cabinet/admin/wheel/config': 'Returns the settings of the wheel and all prizes, inactive ones included.',
  'PUT /cabinet/admin/wheel/config':
    'Changes the settings of the wheel; absent or null fields are not changed. An empty body is refused.',
  'GET /cabinet/admin/wheel/prizes': 'Lists all prizes in the order of the wheel.',
  'POST /cabinet/admin/wheel/prizes': 'Adds a prize at the end of the wheel. The probabilities of the others change.',
  'PUT /cabinet/admin/wheel/prizes/{prize_id}':
    'Changes a prize; null leaves a field unchanged, except the fixed probability, which it clears. The probabilities of the others change.',
  'DELETE /cabinet/admin/wheel/prizes/{prize_id}': 'Deletes a prize. Spins that won it remain.',
  'POST /cabinet/admin/wheel/prizes/reorder': 'Puts the prizes in the given order. Unknown ids are ignored.',
  'GET /cabinet/admin/wheel/statistics':
    'Sums up spins, payments and prizes of a period and compares the return to player with the settings.',
  'GET /cabinet/admin/wheel/spins': 'Lists spins, newest first.',

  'GET /cabinet/admin/tickets/stats': 'Counts tickets by state.',
  'GET /cabinet/admin/tickets/settings': 'Returns the settings of support.',
  'PATCH /cabinet/admin/tickets/settings':
    'Changes settings of support; absent or null fields are not changed. The change applies immediately on every instance.',
  'GET /cabinet/admin/tickets': 'Lists all tickets with their users and newest messages, last changed first.',
  'GET /cabinet/admin/tickets/{ticket_id}': 'Returns a ticket with its messages, oldest first, and its user.',
  'POST /cabinet/admin/tickets/{ticket_id}/reply':
    'Adds a reply of support; the state becomes `answered`. The user is notified through the messenger, else by e-mail, and in the cabinet. Emits `ticket.message_added`.',
  'POST /cabinet/admin/tickets/{ticket_id}/status':
    'Sets the state of a ticket; every state can follow every other. Emits `ticket.status_changed` where the state changes.',
  'POST /cabinet/admin/tickets/{ticket_id}/priority': 'Sets the priority of a ticket.',
  'GET /cabinet/admin/tickets/notifications': 'Lists notifications about tickets, newest first. All administrators share them.',
  'GET /cabinet/admin/tickets/notifications/unread-count': 'Counts unread notifications of administrators.',
  'POST /cabinet/admin/tickets/notifications/{notification_id}/read':
    'Marks a notification as read, for all administrators. Repeating the call changes nothing.',
  'POST /cabinet/admin/tickets/notifications/read-all': 'Marks all notifications as read, for all administrators.',
  'POST /cabinet/admin/tickets/notifications/ticket/{ticket_id}/read':
    'Marks the notifications about one ticket as read, for all administrators.',

  'GET /cabinet/admin/settings/categories': 'Lists the categories of settings, by label.',
  'GET /cabinet/admin/settings':
    'Lists settings, all or those of one category, with current values, choices and descriptions. Secrets are masked.',
  'GET /cabinet/admin/settings/{key}': 'Returns a setting with the current value and a description. Secrets are masked.',
  'PUT /cabinet/admin/settings/{key}':
    'Stores a value for a setting. It applies immediately on every instance, unless the environment sets a value, which takes precedence (except for what the branding of the cabinet sets: sign-in by e-mail and the sign-in button of the messenger). Settings that protect access can be changed by superadministrators only.',
  'DELETE /cabinet/admin/settings/{key}':
    'Removes the stored value, so that the environment or the default applies again. Repeating the call changes nothing.',

  'GET /cabinet/admin/menu-layout': 'Returns the menu of the chat in cabinet mode, with the styles of its buttons.',
  'PUT /cabinet/admin/menu-layout':
    'Replaces the menu of the chat in cabinet mode. It is checked as a whole; the chat shows it from the next message on.',
  'POST /cabinet/admin/menu-layout/reset': 'Resets the menu and the styles of its buttons to their defaults.',

  'GET /cabinet/admin/channel-subscriptions': 'Lists all required channels, inactive ones included, in the order of display.',
  'POST /cabinet/admin/channel-subscriptions':
    'Adds an active channel. The messenger is not asked whether it exists; the bot must be an administrator of it to read its members.',
  'PATCH /cabinet/admin/channel-subscriptions/{channel_db_id}':
    'Changes the fields that are sent; null clears the link and the title. With another `channel_id` the known members of the old channel are deleted.',
  'DELETE /cabinet/admin/channel-subscriptions/{channel_db_id}':
    'Deletes a channel with its known members. Subscriptions that were disabled because of it are enabled by the next check.',
  'POST /cabinet/admin/channel-subscriptions/{channel_db_id}/toggle':
    'Activates or deactivates a channel. Users must have joined active channels only. Each call reverses the state.',

  'GET /cabinet/admin/email-templates':
    'Lists the types of e-mail whose text can be replaced: label and description by language, placeholders (`context_vars`), and for which languages there is a template.',
  'GET /cabinet/admin/email-templates/{notification_type}':
    'Returns a template for each of the five languages: the text in force and the built-in one with example values. A stored body is returned as it was sent: show it in a sandboxed frame only.',
  'PUT /cabinet/admin/email-templates/{notification_type}/{language}':
    'Stores subject and body as they are sent and puts them in force; the next mail of this type to a user with this language has them, on every instance. `{name}` is replaced by the value of the placeholder, escaped in the body and without line breaks in the subject; an unknown name stays. Nothing else in the text is evaluated. A text without content is ignored when a mail is sent, and the link or code that a mail is sent for is added where the body leaves it out.',
  'DELETE /cabinet/admin/email-templates/{notification_type}/{language}':
    'Deletes the template; the next mail has the built-in text. `was_custom` says whether there was one.',
  'POST /cabinet/admin/email-templates/{notification_type}/preview':
    'Shows a template with example values, without storing it; an empty body shows the built-in text. The page forbids scripts and frames by its own content security policy; show it in a sandboxed frame nevertheless.',
  'POST /cabinet/admin/email-templates/{notification_type}/test':
    'Sends one mail with example values now, with the stored template or the built-in text, its subject prefixed with `[TEST] `. Without an address it goes to the administrator. 5 a minute for each administrator.',

  'GET /cabinet/admin/landings': 'Lists sales pages in the order of display with the number of their purchases by state.',
  'POST /cabinet/admin/landings': 'Creates a sales page. If it is active, buyers can use it immediately.',
  'PUT /cabinet/admin/landings/order': 'Puts the sales pages in the given order. Unknown ids are ignored.',
  'GET /cabinet/admin/landings/{landing_id}': 'Returns a sales page with all its texts, prices and methods.',
  'PUT /cabinet/admin/landings/{landing_id}':
    'Changes a sales page; only fields that are sent change. Purchases that have started keep their price.',
  'DELETE /cabinet/admin/landings/{landing_id}': 'Deletes a sales page. Its purchases remain and are delivered.',
  'POST /cabinet/admin/landings/{landing_id}/toggle':
    'Activates or deactivates a sales page. Buyers can use active pages only. Each call reverses the state.',
  'GET /cabinet/admin/landings/{landing_id}/stats':
    'Returns purchases, revenue and conversion of a sales page, by day and by tariff.',
  'GET /cabinet/admin/landings/{landing_id}/purchases':
    'Lists purchases of a sales page, newest first. Contacts are not masked; tokens are cut.',

  'GET /cabinet/admin/payment-methods':
    'Lists all payment methods in the order in which users see them, with what is stored and the defaults that apply where nothing is.',
  'GET /cabinet/admin/payment-methods/promo-groups':
    'Lists the promo groups that a method can be limited to, highest priority first.',
  'GET /cabinet/admin/payment-methods/{method_id}': 'Returns a payment method.',
  'PUT /cabinet/admin/payment-methods/order':
    'Puts the methods in the given order. Unknown ids are ignored; methods that are not named keep their place.',
  'PUT /cabinet/admin/payment-methods/{method_id}':
    'Changes a payment method; only fields that are sent and not null change. Users see it immediately. A minimum above the maximum, defaults included, is 422, and so is a sub-option that the method does not have.',

  'GET /cabinet/admin/payments':
    'Lists payments of all users that wait for the payer, of the last 24 hours, newest first, and all top-ups in Stars of that time. Payments of people without an account are left out; the search has them.',
  'GET /cabinet/admin/payments/stats': 'Counts the payments of the list of pending payments, in total and by method.',
  'GET /cabinet/admin/payments/search':
    'Lists payments of all methods and states, newest first, also of people without an account. At most a year back. With a text the newest 1,000 matches are listed, and `total` counts them.',
  'GET /cabinet/admin/payments/search/stats':
    'Counts the payments of a search by state and by method, whatever `status_filter` says. With a text the newest 1,000 matches are counted.',
  'GET /cabinet/admin/payments/{method}/{payment_id}': 'Returns one payment as the service has recorded it.',
  'POST /cabinet/admin/payments/{method}/{payment_id}/check':
    'Queries the provider about a payment. What it confirms is applied as a callback is: a completed payment is credited, once. A payment that cannot be checked, and a provider that gives no answer, are `success: false`. At most 30 checks a minute for each administrator.',

  'GET /cabinet/admin/apps/vpnpanel/status': 'Returns whether an app configuration is in force, and which.',
  'PUT /cabinet/admin/apps/vpnpanel/uuid':
    'Chooses the configuration of the panel that connection guides are made from; null, blank or nothing chooses none. It applies immediately on every instance, unless the environment sets one. Whether the panel has it is not checked.',
  'GET /cabinet/admin/apps/vpnpanel/config':
    'Reads the chosen app configuration from the panel. 502 with the reason when the panel gives no answer.',
  'GET /cabinet/admin/apps/vpnpanel/configs':
    "Lists the app configurations of the panel, in the panel's order. 502 with the reason when the panel gives no answer.",

  'GET /cabinet/admin/traffic':
    'Lists the users of the panel with their traffic by node, in the last days or between two dates, filtered and sorted. Users without traffic are listed with 0. The panel is read at most every five minutes; a node that gives no answer is left out, a panel that gives none is 502 with the reason, and 503 asks to repeat the call while a long reading is in progress.',
  'GET /cabinet/admin/traffic/enrichment':
    'Returns connected devices, money spent, dates of the subscription and the last node of the users of the panel, by user id; of the 20,000 with the most traffic where there are more. The panel is read at most every five minutes; without its answer devices are 0.',
  'POST /cabinet/admin/traffic/export-csv':
    "Sends the traffic of the users as a CSV file to the administrator's own chat; at most 100,000 users, those with the most traffic. With a threshold it adds how near each user is to it. Text that a spreadsheet would run as a formula is quoted.",
};
