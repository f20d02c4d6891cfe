-- Notifications for members. See docs/decisions/notifications.md.

-- One row per member, written in the transaction of what happened.
create table notifications (
  id uuid primary key default uuidv7(),
  project_id uuid not null,
  user_id uuid not null references users on delete cascade,
  type text not null,
  -- What the text is made from: ids, names, figures.
  data jsonb not null,
  -- Whether the application shows it, and whether a mail is still to be written.
  in_app boolean not null,
  mail_due boolean not null,
  read_at timestamptz,
  created_at timestamptz not null default now()
);
create index notifications_user on notifications (user_id, id);
create index notifications_project on notifications (project_id);
create index notifications_mail on notifications (id) where mail_due;

-- What differs from the defaults of services/notifications/types.ts and of the function notify_members.
create table notification_settings (
  user_id uuid not null references users on delete cascade,
  type text not null,
  app boolean not null,
  email boolean not null,
  primary key (user_id, type)
);
