# Run once by the Postgres image of docker-compose.yml, when its volume is empty. The application and Temporal get their own
# roles, without superuser rights. The superuser has no password and cannot log in over the network, only by:
#   docker compose exec postgres psql -U postgres
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" -U "$POSTGRES_USER" <<'SQL'
create role everpost login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database everpost owner everpost;
create role temporal login nosuperuser createdb nocreaterole noreplication nobypassrls password :'password';
alter role postgres password null;
SQL
