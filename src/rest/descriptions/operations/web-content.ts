/** Web API: tickets, settings, menu layout. */
export const WEB_CONTENT: Readonly<Record<string, string>> = {
  'GET /tickets': 'Lists tickets without their messages as a plain array, last changed first. All filters are combined.',
  'GET /tickets/{ticket_id}': 'Returns a ticket with its messages, oldest first.',
  'POST /tickets/{ticket_id}/status':
    'Sets the state of a ticket; every state can follow every other. Emits `ticket.status_changed` where the state changes.',
  'POST /tickets/{ticket_id}/priority': 'Sets the priority of a ticket.',
  'POST /tickets/{ticket_id}/reply-block':
    'Forbids the user to write in the ticket, permanently or until a time. `false` and null together remove the block.',
  'DELETE /tickets/{ticket_id}/reply-block': 'Allows the user to write in the ticket again.',
  'POST /tickets/{ticket_id}/reply':
    'Adds a reply of support; the state becomes `answered`. The user is notified through the messenger, else by e-mail, and in the cabinet. Emits `ticket.message_added`. Text or a file is required.',
  'GET /tickets/{ticket_id}/messages/{message_id}/media':
    'Returns the file of a message and an address to load it from. Sends a request to the messenger to find the file.',

  'POST /upload':
    'Stores a file of up to 50 MB as form data and returns its id for tickets, broadcasts and pinned messages. The content decides what it is: images, videos, PDF, DOCX, XLSX, ZIP, GZIP and plain text are taken, with the matching `media_type`. Where `ADMIN_NOTIFICATIONS_CHAT_ID` or `ADMIN_IDS` names a chat, the file is shown there with the caption, and its id is that of the messenger. A file that nothing of the service refers to is deleted after `MEDIA_UNUSED_DAYS` days.',
  'GET /media/{file_id}':
    'Returns the content of a file that was uploaded, or that came with a ticket or a broadcast; every other id is unknown. Images and videos are shown in place, everything else is a download. A `Range` of bytes is answered with 206. May send requests to the messenger.',

  'GET /broadcasts': 'Lists broadcasts of all channels with their progress, newest first.',
  'POST /broadcasts':
    'Sends a message through the messenger to all members of a segment who have not switched off news. The rows of the recipients are written and the messages are sent in the background, at the pace of `MESSENGER_SENDS_PER_SECOND`; each recipient gets the message at most once. Where a process ends while messages are under way, it is unknown of these whether they arrived: they are counted in `unconfirmed_count` and not sent again. With a caption of the file the text is not sent. The call is recorded in the audit log.',
  'POST /broadcasts/{broadcast_id}/stop':
    'Ends a broadcast on all its channels. Messages under way are still sent, none after them; the state is `cancelling` until then. Repeating the call before the end changes nothing. The call is recorded in the audit log.',

  'GET /settings/categories': 'Lists the categories of settings, by label.',
  'GET /settings': 'Lists settings, all or those of one category, with current values, defaults and choices. Secrets are masked.',
  'GET /settings/{key}': 'Returns a setting with the current value. Secrets are masked.',
  'PUT /settings/{key}':
    'Stores a value for a setting. It applies immediately on every instance, unless the environment sets a value, which takes precedence. Some settings have further effects: prices are recomputed, jobs are rescheduled. The call is recorded in the audit log.',
  'DELETE /settings/{key}':
    'Removes the stored value, so that the environment or the default applies again. Repeating the call changes nothing. The call is recorded in the audit log.',

  'GET /menu-layout': 'Returns the layout of the chat menu, or the default one while nothing is stored.',
  'PUT /menu-layout':
    'Replaces the rows, the buttons or both. The result is checked as a whole. The chat shows it from the next message on, and the edit is recorded in the history.',
  'POST /menu-layout/reset': 'Replaces the stored layout by the default one and records the edit.',
  'GET /menu-layout/builtin-buttons': 'Lists the built-in buttons with their defaults.',
  'POST /menu-layout/preview': 'Returns the menu that a user with the given properties would see. Stores nothing.',
  'GET /menu-layout/available-callbacks': 'Lists what buttons of type `callback` can call, and which of these the layout uses.',
  'GET /menu-layout/placeholders': 'Lists the placeholders that texts with `dynamic_text` may contain.',
  'GET /menu-layout/export': 'Returns the layout for an import elsewhere.',
  'POST /menu-layout/import':
    'Imports an exported layout: it replaces the stored one, or adds the rows and buttons that are missing. Existing rows and buttons are skipped with a warning. The edit is recorded.',
  'POST /menu-layout/validate': 'Checks the given layout, or the stored one when the body is empty. Stores nothing.',
  'GET /menu-layout/history': 'Lists the edits of the layout, newest first.',
  'GET /menu-layout/history/{history_id}': 'Returns an edit with the whole layout after it.',
  'POST /menu-layout/history/{history_id}/rollback':
    'Restores the layout of an edit. The layout before it is recorded as `rollback_backup`.',
  'PATCH /menu-layout/buttons/{button_id}':
    'Changes a button. Null leaves text, action and switches as they are, and clears icon, conditions, description, place and web app address. The action of a built-in button changes only together with `open_mode` `direct`.',
  'DELETE /menu-layout/buttons/{button_id}':
    'Deletes a button of your own and removes it from all rows. Built-in buttons cannot be deleted; switch them off instead.',
  'POST /menu-layout/buttons': 'Adds a button of type `url`, `mini_app` or `callback`, at the end of a row if one is named.',
  'POST /menu-layout/rows/reorder': 'Changes the order of the rows. Rows that are not named follow in their old order.',
  'POST /menu-layout/rows': 'Adds a row at a position, or at the end.',
  'DELETE /menu-layout/rows/{row_id}': 'Deletes a row. Its buttons stay defined and can be placed again.',
  'POST /menu-layout/buttons/{button_id}/move-up':
    'Moves a button to the end of the row above. A row that becomes empty is removed.',
  'POST /menu-layout/buttons/{button_id}/move-down':
    'Moves a button to the end of the row below. A row that becomes empty is removed.',
  'POST /menu-layout/buttons/{button_id}/move-to-row': 'Moves a button to a place in a row. A row that becomes empty is removed.',
  'POST /menu-layout/rows/{row_id}/reorder-buttons':
    'Changes the order of the buttons of a row. All buttons of the row must be named once.',
  'POST /menu-layout/buttons/swap': 'Exchanges the places of two buttons.',
  'GET /menu-layout/stats': 'Counts the clicks of every button, most pressed first.',
  'GET /menu-layout/stats/buttons/{button_id}':
    'Counts the clicks of one button, also by day. The counts are zero for an unknown button.',
  'POST /menu-layout/stats/log-click':
    'Records that a button was pressed, for buttons that the chat does not see, such as links. The click of an unknown user is recorded without a user.',
  'GET /menu-layout/stats/by-type': 'Counts clicks by type of button.',
  'GET /menu-layout/stats/by-hour': 'Counts clicks by hour of the day in UTC; all 24 hours are listed.',
  'GET /menu-layout/stats/by-weekday': 'Counts clicks by day of the week in UTC; all seven days are listed.',
  'GET /menu-layout/stats/top-users': 'Lists the users with most clicks.',
  'GET /menu-layout/stats/compare': 'Compares the clicks of the last days with those of the days directly before them.',
  'GET /menu-layout/stats/users/{user_id}/sequences':
    'Lists what a user pressed, newest first. The list is empty for an unknown user.',
};
