# Run once by the Postgres image of docker-compose.yml, when its volume is empty. The application and Temporal get roles of
# their own that are no superusers. The superuser keeps no password, so nobody can log in as it over the network:
#   docker compose exec postgres psql -U postgres
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" -U "$POSTGRES_USER" <<'SQL'
create role everpost login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database everpost owner everpost;
create role temporal login nosuperuser createdb nocreaterole noreplication nobypassrls password :'password';
alter role postgres password null;
SQL
