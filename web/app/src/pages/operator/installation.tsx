import '../../frame/shell.css';
import { useProjects } from '../../api/hooks.ts';
import { Logo } from '../../frame/logo.tsx';
import { AccountMenu, AppearanceMenu } from '../../frame/menus.tsx';
import { t } from '../../texts/index.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { OperatorPage } from './operator.tsx';

/** The console in a frame without a project. */
export function InstallationPage() {
  const { data: projects = [] } = useProjects();
  return (
    <div className="shell" data-alone>
      <a href="#main" className="skip-link">
        {t.nav.skip}
      </a>
      <header className="shell-header">
        <Logo />
        <ButtonLink to={projects.length > 0 ? '/' : '/new-project'} variant="default" size="xs" ml="auto">
          {projects.length > 0 ? t.operator.toProjects : t.frame.newProject}
        </ButtonLink>
        <AppearanceMenu />
        <AccountMenu />
      </header>
      <main className="shell-main" id="main" tabIndex={-1}>
        <div className="shell-content">
          <OperatorPage />
        </div>
      </main>
    </div>
  );
}
