import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles.css';
import './cards.css';
import './forms.css';
import './features.css';
import './screens.css';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
